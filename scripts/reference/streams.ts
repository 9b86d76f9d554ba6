/**
 * What operators are called on: streams with and without keys, connected streams, partitioning, the ends of streams.
 *
 * @packageDocumentation
 */
export {
  type ComparableField,
  type ComparableValue,
  ConnectedStreams,
  DataStream,
  DataStreamSink,
  type FieldOf,
  KeyedConnectedStreams,
  KeyedStream,
  type NumericField,
  OutputTag,
  type Partitioner,
  type Paths,
  SingleOutputStreamOperator,
  type TaggedUnion,
} from 'millrace';
