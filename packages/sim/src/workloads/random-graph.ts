/**
 * Jobs that nobody would write: a random graph of operators, with exchanges, chains and parallelisms at random. Every operator
 * makes of each record something that depends on nothing else, so what arrives at the sinks is computed by the same steps
 * on arrays (`plain`), and no order has to be kept.
 *
 *     steps ──► plain(step, arrays) ──► what must arrive at each leaf
 *          └──► built(step, streams) ─► the job
 */
import {
  type Collector,
  type DataStream,
  type KeyedProcessContext,
  KeyedProcessFunction,
  OutputTag,
  type ProcessContext,
  ProcessFunction,
  type RuntimeContext,
  type SingleOutputStreamOperator,
  type StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { type SeededRandom, seededRandom } from '../../../engine/src/testing/seeded-random.ts';
import { committedOf } from '../checkers/committed.ts';
import { firstDifference } from '../checkers/multiset.ts';
import { MergingSource } from '../world/merging-source.ts';
import type { Site } from '../world/site.ts';
import type { Scenario, Workload } from './workload.ts';

interface Element {
  readonly key: string;
  /** What was done to it. */
  readonly text: string;
  readonly time: number;
}

type StepKind =
  | 'source'
  | 'map'
  | 'filter'
  | 'flat-map'
  | 'new-key'
  | 'split'
  | 'count'
  | 'one-copy'
  | 'union'
  | 'connect';

/** Streams are numbered in the order in which steps make them; `split` and `count` make two. */
interface Step {
  readonly kind: StepKind;
  readonly number: number;
  readonly inputs: readonly number[];
  /** Of a source. */
  readonly records: number;
}

const elementType = Types.ROW({ key: Types.STRING, text: Types.STRING, time: Types.LONG });
const OPERATORS: readonly StepKind[] = [
  'map',
  'filter',
  'flat-map',
  'new-key',
  'split',
  'count',
  'count',
  'one-copy',
  'union',
  'connect',
];
const MAKES_TWO: readonly StepKind[] = ['split', 'count'];
/** Of different graphs: few enough that undisturbed runs are used again. */
const GRAPHS = 400;
const KEYS = 4;

export const randomGraph: Scenario = {
  name: 'random-graph',
  weight: 2,
  draw: (random) => workload(random.below(GRAPHS), random.below(2 ** 30)),
};

function workload(graphSeed: number, paceSeed: number): Workload {
  const steps = drawSteps(seededRandom(graphSeed));
  const expected = streamsOf(steps, plain);
  const leaves = leavesOf(steps);
  return {
    name: randomGraph.name,
    parameters: `graph ${graphSeed}: ${steps.map(({ kind }) => kind).join(', ')}`,
    limits: { atLeastOnce: true, parallelismMax: 3 },
    setup: (env, site) => {
      const pace = seededRandom(paceSeed);
      const streams = streamsOf<DataStream<Element>>(steps, (step, inputs) =>
        built(step, inputs, { env, site, pace }),
      );
      for (const leaf of leaves)
        streams[leaf]!.sinkTo(site.sink<Element>(databaseOf(leaf))).uid(`sink-${leaf}`);
    },
    results: (site) => leaves.map((leaf) => committedOf<Element>(site, databaseOf(leaf)).map(textOf)),
    check: (results, undisturbed, mode) => {
      for (const [index, leaf] of leaves.entries()) {
        const found = (results as string[][])[index]!;
        const wanted = expected[leaf]!.map(textOf);
        const wrong =
          mode === 'at-least-once'
            ? firstLost(found, wanted)
            : (firstDifference(found, wanted) ??
              firstDifference((undisturbed as string[][])[index]!, wanted));
        if (wrong !== undefined) return `stream ${leaf}: ${wrong}`;
      }
      return undefined;
    },
  };
}

const databaseOf = (stream: number): string => `stream-${stream}`;
const textOf = ({ key, text }: Element): string => `${key} ${text}`;

/** Counts go on where records come again, and are in no text but those of counting streams. */
function firstLost(found: readonly string[], wanted: readonly string[]): string | undefined {
  const there = new Set(found);
  const lost = wanted.find((text) => !text.includes('#') && !there.has(text));
  return lost === undefined ? undefined : `${lost} is missing`;
}

function drawSteps(random: SeededRandom): Step[] {
  const steps: Step[] = [];
  let streams = 0;
  const add = (kind: StepKind, inputs: readonly number[]): void => {
    steps.push({ kind, number: steps.length, inputs, records: random.pick([3, 10, 25]) });
    streams += MAKES_TWO.includes(kind) ? 2 : 1;
  };
  for (let left = random.pick([1, 2, 2]); left > 0; left--) add('source', []);
  for (let left = 2 + random.below(5); left > 0; left--) {
    const kind = random.pick(OPERATORS);
    const isBinary = kind === 'union' || kind === 'connect';
    // Streams that were made last are likelier: deep graphs rather than wide ones.
    const pick = (): number => Math.max(random.below(streams), random.below(streams));
    add(kind, isBinary ? [pick(), pick()] : [pick()]);
  }
  return steps;
}

/** Nothing reads them. */
function leavesOf(steps: readonly Step[]): number[] {
  const read = new Set(steps.flatMap(({ inputs }) => inputs));
  const count = steps.reduce((sum, { kind }) => sum + (MAKES_TWO.includes(kind) ? 2 : 1), 0);
  return Array.from({ length: count }, (_, stream) => stream).filter((stream) => !read.has(stream));
}

function streamsOf<S>(steps: readonly Step[], make: (step: Step, inputs: readonly S[]) => readonly S[]): S[] {
  const streams: S[] = [];
  for (const step of steps)
    streams.push(
      ...make(
        step,
        step.inputs.map((input) => streams[input]!),
      ),
    );
  return streams;
}

function hashOf(text: string): number {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) >>> 0;
  return hash;
}

const marked = (element: Element, mark: string): Element => ({ ...element, text: `${element.text} ${mark}` });
const isKept = ({ text }: Element): boolean => hashOf(text) % 4 !== 0;
const isLeft = ({ text }: Element): boolean => hashOf(text) % 2 === 0;
const copiesOf = (element: Element, number: number): Element[] =>
  Array.from({ length: hashOf(element.text) % 3 }, (_, copy) => marked(element, `f${number}.${copy}`));
const withNewKey = (element: Element): Element => ({ ...element, key: `k${hashOf(element.text) % KEYS}` });
const countOf = ({ key, time }: Element, number: number, count: number): Element => ({
  key,
  text: `#${number}.${count}`,
  time,
});

function sourceOf({ number, records }: Step): Element[][] {
  return Array.from({ length: 1 + (number % 2) }, (_, partition) =>
    Array.from({ length: records }, (_each, index) => ({
      key: `k${index % KEYS}`,
      text: `s${number}.${partition}.${index}`,
      time: index,
    })),
  );
}

function plain(step: Step, inputs: readonly (readonly Element[])[]): readonly (readonly Element[])[] {
  const { kind, number } = step;
  const [first = [], second = []] = inputs;
  switch (kind) {
    case 'source':
      return [sourceOf(step).flat()];
    case 'map':
      return [first.map((element) => marked(element, `m${number}`))];
    case 'filter':
      return [first.filter(isKept)];
    case 'flat-map':
      return [first.flatMap((element) => copiesOf(element, number))];
    case 'new-key':
      return [first.map(withNewKey)];
    case 'split':
      return [first.filter(isLeft), first.filter((element) => !isLeft(element))];
    case 'one-copy':
      return [first];
    case 'union':
      return [[...first, ...second]];
    case 'connect':
      return [
        [
          ...first.map((element) => marked(element, `l${number}`)),
          ...second.map((element) => marked(element, `r${number}`)),
        ],
      ];
    case 'count': {
      const counts = new Map<string, number>();
      const counted = first.map((element) => {
        const count = (counts.get(element.key) ?? 0) + 1;
        counts.set(element.key, count);
        return countOf(element, number, count);
      });
      return [first, counted];
    }
  }
}

/** Where the job is built. */
interface Place {
  readonly env: StreamExecutionEnvironment;
  readonly site: Site;
  readonly pace: SeededRandom;
}

type Streams = readonly DataStream<Element>[];

function built(step: Step, inputs: Streams, place: Place): Streams {
  const { kind, number } = step;
  const { pace } = place;
  if (kind === 'source') return [source(step, place)];
  const [first, second] = inputs.map((stream) => exchanged(stream, pace));
  const made = operator(step, first!, second, place);
  if (kind === 'union') return [made];
  const result = made as SingleOutputStreamOperator<Element>;
  result.returns(elementType).uid(`${kind}-${number}`);
  if (pace.oneIn(3)) result.setParallelism(1 + pace.below(3));
  const chains = pace.below(4);
  if (chains === 0) result.disableChaining();
  if (chains === 1) result.startNewChain();
  return MAKES_TWO.includes(kind) ? [result, result.getSideOutput(sideOf(number))] : [result];
}

const sideOf = (number: number): OutputTag<Element> => new OutputTag(`side-${number}`, elementType);

function source(step: Step, { env, site, pace }: Place): DataStream<Element> {
  const { number } = step;
  return env
    .fromSource(
      new MergingSource(sourceOf(step), {
        recordsPerPoll: pace.pick([1, 3, 10]),
        pauseMs: pace.pick([0, 1, 5]),
      }),
      WatermarkStrategy.forMonotonousTimestamps(),
      `source ${number}`,
      elementType,
    )
    .uid(`source-${number}`)
    .map((element) => {
      site.pass('source');
      return element;
    })
    .returns(elementType)
    .uid(`pass-${number}`);
}

function operator(
  { kind, number }: Step,
  first: DataStream<Element>,
  second: DataStream<Element> | undefined,
  { site }: Place,
): DataStream<Element> {
  switch (kind) {
    case 'source':
    case 'map':
      return first.map((element) => marked(element, `m${number}`));
    case 'filter':
      return first.filter(isKept);
    case 'flat-map':
      return first.flatMap((element) => copiesOf(element, number));
    case 'new-key':
      return first.map(withNewKey);
    case 'split':
      return first.process(() => new Split(number));
    case 'one-copy':
      return first.broadcast().process(() => new OneCopy());
    case 'union':
      return first.union(second!);
    case 'connect':
      return first.connect(second!).map({
        map1: (element) => marked(element, `l${number}`),
        map2: (element) => marked(element, `r${number}`),
      });
    case 'count':
      return first.keyBy((element) => element.key, Types.STRING).process(() => new CountBeside(site, number));
  }
}

function exchanged(stream: DataStream<Element>, pace: SeededRandom): DataStream<Element> {
  switch (pace.below(9)) {
    case 0:
      return stream.rebalance();
    case 1:
      return stream.rescale();
    case 2:
      return stream.shuffle();
    case 3:
      return stream.global();
    case 4:
      return stream.partitionCustom((key: string, count) => hashOf(key) % count, 'key');
    default:
      return stream;
  }
}

class Split extends ProcessFunction<Element, Element> {
  readonly #side: OutputTag<Element>;

  constructor(number: number) {
    super();
    this.#side = sideOf(number);
  }

  override processElement(element: Element, context: ProcessContext, out: Collector<Element>): void {
    if (isLeft(element)) out.collect(element);
    else context.output(this.#side, element);
  }
}

/** Of what every subtask gets, that of the first. */
class OneCopy extends ProcessFunction<Element, Element> {
  #isFirst = false;

  override open(context: RuntimeContext): void {
    this.#isFirst = context.getIndexOfThisSubtask() === 0;
  }

  override processElement(element: Element, _context: ProcessContext, out: Collector<Element>): void {
    if (this.#isFirst) out.collect(element);
  }
}

/** Passes on, with the number of each record within its key beside. */
class CountBeside extends KeyedProcessFunction<string, Element, Element> {
  readonly #site: Site;
  readonly #number: number;
  readonly #side: OutputTag<Element>;
  #count!: ValueState<number>;

  constructor(site: Site, number: number) {
    super();
    this.#site = site;
    this.#number = number;
    this.#side = sideOf(number);
  }

  override open(context: RuntimeContext): void {
    this.#site.pass('open');
    this.#count = context.getState(new ValueStateDescriptor('count', Types.LONG));
  }

  override processElement(
    element: Element,
    context: KeyedProcessContext<string>,
    out: Collector<Element>,
  ): void {
    this.#site.pass('record');
    const count = (this.#count.value() ?? 0) + 1;
    this.#count.update(count);
    out.collect(element);
    context.output(this.#side, countOf(element, this.#number, count));
  }

  override snapshotState(): void {
    this.#site.pass('snapshot');
  }
}
