"""The keyed count of bench/lib/keyed-count-job.ts with Flink's Python API: map, filter, key and count are Python, the source
and the sink are those of the Java job.

Options: --mode process|thread, and those of the Java job.
"""
import sys

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.base import Sink, Source
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.java_gateway import get_gateway


class Count(KeyedProcessFunction):
    """Emits each key with 1, 2, 3, ..."""

    def __init__(self):
        self.count = None

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


def main(arguments):
    options = dict(zip((name[2:] for name in arguments[::2]), arguments[1::2]))
    gateway = get_gateway()
    java_arguments = gateway.new_array(gateway.jvm.java.lang.String, len(arguments))
    for i, argument in enumerate(arguments):
        java_arguments[i] = argument
    job = gateway.jvm.millrace.bench.PythonJob(java_arguments)
    env = StreamExecutionEnvironment(job.environment())
    key_type = Types.STRING() if options["key-kind"] == "string" else Types.LONG()
    record_type = Types.TUPLE([key_type, Types.DOUBLE(), Types.LONG()])
    (
        env.from_source(Source(job.source()), WatermarkStrategy.no_watermarks(), "records")
        .map(lambda record: (record[0], record[1] * 2, record[2]), output_type=record_type)
        .filter(lambda record: record[1] > 100)
        .key_by(lambda record: record[0], key_type=key_type)
        .process(Count(), output_type=Types.TUPLE([key_type, Types.LONG()]))
        .sink_to(Sink(job.sink()))
    )
    env.execute("keyed count")


if __name__ == "__main__":
    main(sys.argv[1:])
