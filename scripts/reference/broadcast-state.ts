/**
 * A table that every subtask has, changed by a broadcast stream.
 *
 * @packageDocumentation
 */
export {
  BroadcastConnectedStream,
  type BroadcastContext,
  type BroadcastOnTimerContext,
  BroadcastProcessFunction,
  type BroadcastState,
  BroadcastStream,
  KeyedBroadcastConnectedStream,
  type KeyedBroadcastContext,
  KeyedBroadcastProcessFunction,
  type KeyedReadOnlyBroadcastContext,
  type KeyedStateFunction,
  type ReadOnlyBroadcastContext,
  type ReadOnlyBroadcastState,
} from 'millrace';
