/**
 * Records of two streams that belong together: in a window, or within an interval of time.
 *
 * @packageDocumentation
 */
export {
  CoGroupedPair,
  CoGroupedStreams,
  type CoGroupFunction,
  CoGroupWindows,
  type FlatJoinFunction,
  IntervalJoin,
  IntervalJoined,
  JoinedPair,
  JoinedStreams,
  type JoinFunction,
  JoinWindows,
  type PlainProcessJoinFunction,
  type ProcessJoinContext,
  ProcessJoinFunction,
  RichCoGroupFunction,
  RichFlatJoinFunction,
  RichJoinFunction,
  WhereClause,
} from 'millrace';
