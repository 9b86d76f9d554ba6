/**
 * Turns a chain of operators into code: one generated function per place where records enter (a batch from an exchange,
 * a source's output, an operator's output). Maps and filters disappear into their callers; operators with state are called
 * through a function of their own. Used by operator-chain.ts only.
 *
 * Invariants:
 * I1 Every call of a user's function is guarded; what it throws names its operator, and the record: the handlers stand around
 *    calls and loops, so a record that does not fail pays nothing.
 * I2 Before a keyed operator is called its backend's current key is set, with the hash that came over the wire or, inside a
 *    chain, computed once; not for an input whose records have no key.
 * I3 Records that wait in the buffer of a chained keyed operator are processed before any control element: the chain calls
 *    `flush` first. The buffer exists so that state can be prefetched for many keys at a time.
 */
import type { RecordBatch, RecordWriter } from '../exchange/index.ts';
import type { KeyedStateBackend } from '../state/index.ts';
import { CodeBuilder } from './code-builder.ts';
import { atRecord } from './failed-element.ts';
import type { KeySelector, OperatorSpec } from './job-vertex.ts';
import type { OneInputOperator, OperatorContext, TwoInputOperator } from './operator.ts';
import type { Output } from './output.ts';

/** A record enters an operator. */
export type ProcessFn = (value: unknown, timestampMs: number) => void;
/** A batch of an exchange enters the head. */
export type BatchFn = (batch: RecordBatch) => void;

/** One operator of the chain as the generator sees it. */
export interface ChainNode {
  readonly index: number;
  readonly spec: OperatorSpec;
  readonly operator: OneInputOperator | TwoInputOperator | undefined;
  readonly context: OperatorContext;
  readonly backend: KeyedStateBackend | undefined;
  /** Watermarks and status changes for this operator, timers included. */
  readonly onWatermark: (watermarkMs: number) => void;
  readonly onStatus: (idle: boolean) => void;
  /** Set by the generator: how a parent hands a record over. */
  enter: ProcessFn | undefined;
  /** Set by the generator for chained keyed operators: processes what waits in the buffer. */
  flush: (() => void) | undefined;
}

/** An edge that leaves the chain. */
export interface ChainExit {
  readonly operator: number;
  readonly sideTag: string | undefined;
  readonly writer: RecordWriter<unknown>;
}

/** Records that a chained keyed operator collects before it touches state. */
const KEYED_BUFFER_RECORDS = 128;

export class ChainCode {
  private readonly nodes: readonly ChainNode[];
  private readonly exits: readonly ChainExit[];

  constructor(nodes: readonly ChainNode[], exits: readonly ChainExit[]) {
    this.nodes = nodes;
    this.exits = exits;
  }

  /** Output of operator `index`. Children must have been compiled: call for the last operator first. */
  output(index: number): Output<unknown> {
    const code = new CodeBuilder();
    const main = this.emit(code, index, undefined, 'v');
    const sides = this.sideEmitters(index);
    const sidesName = code.bind('sides', sides);
    const targets = this.controlTargets(index);
    const watermark = code.bind('targets', targets);
    return code.build<Output<unknown>>(
      `output of ${this.nodes[index]!.spec.name}`,
      `return {
        collect(v, t) { ${main} },
        collectSide(tag, v, t) { const f = ${sidesName}.get(tag); if (f !== undefined) f(v, t); },
        emitWatermark(ms) { for (const target of ${watermark}) target.watermark(ms); },
        emitWatermarkStatus(idle) { for (const target of ${watermark}) target.status(idle); },
      };`,
    );
  }

  /** Makes the function by which a parent (or a generated batch loop) hands records to this operator. After open. */
  compileEntry(node: ChainNode): void {
    if (node.spec.parent < 0 || node.operator === undefined || isInlined(node)) return;
    const process = processFunction(node, 0);
    if (node.spec.keyed === undefined) {
      node.enter = process;
      return;
    }
    const { enter, flush } = this.keyedBuffer(node, process);
    node.enter = enter;
    node.flush = flush;
  }

  /** The loop over a batch that arrived at input `input` of the head. */
  batchLoop(input: 0 | 1): BatchFn {
    const head = this.nodes[0]!;
    const code = new CodeBuilder();
    let prologue = '';
    let body: string;
    if (isInlined(head)) {
      body = this.inline(code, head, 'v');
    } else {
      const process = code.bind('process', processFunction(head, input));
      body = `${process}(v, t);`;
    }
    const selector = head.backend === undefined ? undefined : selectorOf(head, input);
    if (selector !== undefined) {
      const backend = code.bind('backend', head.backend);
      prologue = `${backend}.prefetch(batch.hashes, n);`;
      body = `${keyOf(code, head, selector)} ${backend}.setCurrentKey(k, hashes[i]); ${body}`;
    }
    const at = code.bind('at', locator(selector === undefined ? undefined : head.backend));
    return code.build<BatchFn>(
      `batches of ${head.spec.name}`,
      `return function (batch) {
        const values = batch.values, timestamps = batch.timestamps, hashes = batch.hashes, n = batch.count;
        ${prologue}
        let v, t;
        try {
          for (let i = 0; i < n; i++) {
            v = values[i], t = timestamps[i];
            values[i] = undefined;
            ${body}
          }
        } catch (e) { throw ${at}(e, v, t); }
      };`,
    );
  }

  /** The loop over a batch that enters at an operator behind the head: restored records of an edge inside the chain. */
  entryLoop(index: number): BatchFn {
    const node = this.nodes[index]!;
    const code = new CodeBuilder();
    const body = isInlined(node) ? this.inline(code, node, 'v') : enterCall(code, node, 'v');
    return code.build<BatchFn>(
      `restored batches of ${node.spec.name}`,
      `return function (batch) {
        const values = batch.values, timestamps = batch.timestamps;
        for (let i = 0; i < batch.count; i++) {
          const v = values[i], t = timestamps[i];
          values[i] = undefined;
          ${body}
        }
      };`,
    );
  }

  /** Statements that hand `v` and `t` to everything that reads this output of operator `index`. */
  emit(code: CodeBuilder, index: number, sideTag: string | undefined, v: string): string {
    let text = '';
    for (const exit of this.exits) {
      if (exit.operator === index && exit.sideTag === sideTag)
        text += `${code.bind('writer', exit.writer)}.collect(${v}, t);`;
    }
    for (const child of this.children(index, sideTag)) {
      if (isInlined(child)) text += `{ ${this.inline(code, child, v)} }`;
      else text += enterCall(code, child, v);
    }
    return text;
  }

  private inline(code: CodeBuilder, node: ChainNode, v: string): string {
    const form = (node.operator as OneInputOperator).inline!;
    const fn = code.bind('fn', form.fn);
    const what = `${form.kind} function`;
    const context = node.context;
    const guard = code.bind('guard', (error: unknown, value: unknown, timestampMs: number) =>
      context.wrapUserError(error, what, { value, timestampMs }),
    );
    const refuse = code.bind('refuse', form.refuse);
    const result = `r${node.index}`;
    const call = `let ${result}; try { ${result} = ${fn}(${v}); } catch (e) { throw ${guard}(e, ${v}, t); }`;
    const next = this.emit(code, node.index, undefined, form.kind === 'map' ? result : v);
    if (form.kind === 'map')
      return `${call} if (${result} instanceof Promise) throw ${refuse}(${result}); ${next}`;
    return `${call} if (${result} === true) { ${next} } else if (${result} !== false) throw ${refuse}(${result});`;
  }

  private keyedBuffer(node: ChainNode, process: ProcessFn): { enter: ProcessFn; flush: () => void } {
    const code = new CodeBuilder();
    const backend = code.bind('backend', node.backend);
    const run = code.bind('process', process);
    const at = code.bind('at', locator(node.backend));
    const size = KEYED_BUFFER_RECORDS;
    return code.build(
      `keyed buffer of ${node.spec.name}`,
      `const values = new Array(${size}).fill(undefined), keys = new Array(${size}).fill(undefined);
      const timestamps = new Float64Array(${size}), hashes = new Int32Array(${size});
      let n = 0;
      function flush() {
        const count = n;
        if (count === 0) return;
        n = 0;
        ${backend}.prefetch(hashes, count);
        let i = 0, v;
        try {
          for (; i < count; i++) {
            const k = keys[i];
            v = values[i];
            values[i] = undefined; keys[i] = undefined;
            ${backend}.setCurrentKey(k, hashes[i]);
            ${run}(v, timestamps[i]);
          }
        } catch (e) { throw ${at}(e, v, timestamps[i]); }
      }
      function enter(v, t) {
        ${keyOf(code, node, selectorOf(node, 0)!)}
        values[n] = v; keys[n] = k; timestamps[n] = t; hashes[n] = ${backend}.hashOf(k);
        if (++n === ${size}) flush();
      }
      return { enter, flush };`,
    );
  }

  private sideEmitters(index: number): ReadonlyMap<string, ProcessFn> {
    const tags = new Set<string>();
    for (const exit of this.exits)
      if (exit.operator === index && exit.sideTag !== undefined) tags.add(exit.sideTag);
    for (const node of this.nodes) {
      if (node.spec.parent === index && node.spec.parentSideTag !== undefined)
        tags.add(node.spec.parentSideTag);
    }
    const emitters = new Map<string, ProcessFn>();
    for (const tag of tags) {
      const code = new CodeBuilder();
      const body = this.emit(code, index, tag, 'v');
      emitters.set(tag, code.build(`side output ${tag}`, `return function (v, t) { ${body} };`));
    }
    return emitters;
  }

  /** Watermarks go to all children and edges, side outputs included. */
  private controlTargets(
    index: number,
  ): readonly { watermark(ms: number): void; status(idle: boolean): void }[] {
    const targets: { watermark(ms: number): void; status(idle: boolean): void }[] = [];
    for (const node of this.nodes) {
      if (node.spec.parent !== index) continue;
      targets.push({
        watermark: (ms) => {
          node.flush?.();
          node.onWatermark(ms);
        },
        status: (idle) => {
          node.flush?.();
          node.onStatus(idle);
        },
      });
    }
    for (const exit of this.exits) {
      if (exit.operator !== index) continue;
      targets.push({
        watermark: (ms) => exit.writer.broadcastWatermark(ms),
        status: (idle) => exit.writer.broadcastStatus(idle),
      });
    }
    return targets;
  }

  private children(index: number, sideTag: string | undefined): ChainNode[] {
    return this.nodes.filter((node) => node.spec.parent === index && node.spec.parentSideTag === sideTag);
  }
}

function isInlined(node: ChainNode): boolean {
  return node.operator !== undefined && 'inline' in node.operator && node.operator.inline !== undefined;
}

/** undefined: the records of that input have no key. */
function selectorOf(node: ChainNode, input: 0 | 1): KeySelector | undefined {
  return node.spec.keyed!.selectors[input];
}

/** Statements that leave the key of `v` in `k`. */
function keyOf(code: CodeBuilder, node: ChainNode, selector: KeySelector): string {
  const fn = code.bind('selector', selector);
  const guard = code.bind('guardKey', (error: unknown, value: unknown, timestampMs: number) =>
    node.context.wrapUserError(error, 'key selector', { value, timestampMs }),
  );
  return `let k; try { k = ${fn}(v); } catch (e) { throw ${guard}(e, v, t); }`;
}

/** Hands `v` and `t` to a child. A keyed one collects them first: whatever fails then is another record. */
function enterCall(code: CodeBuilder, child: ChainNode, v: string): string {
  const call = `${code.bind('enter', child.enter)}(${v}, t);`;
  if (child.spec.keyed !== undefined) return call;
  return `try { ${call} } catch (e) { throw ${code.bind('at', locator(undefined))}(e, ${v}, t); }`;
}

/** Makes what says at which record an error happened, and of which key if records have one. */
function locator(backend: KeyedStateBackend | undefined) {
  return (error: unknown, value: unknown, timestampMs: number): unknown => {
    const key = backend === undefined ? undefined : { value: backend.currentKey };
    return atRecord(error, { value, timestampMs, key });
  };
}

/** The operator's own specialised function for an input, or a call of its method. */
function processFunction(node: ChainNode, input: 0 | 1): ProcessFn {
  const unique = `${node.spec.kind} ${node.spec.name}`;
  const operator = node.operator!;
  if ('processElement' in operator) {
    const compiled = operator.compile?.(unique);
    return (
      (compiled as ProcessFn | undefined) ??
      ((value, timestampMs) => operator.processElement(value, timestampMs))
    );
  }
  if (input === 0) {
    const compiled = operator.compile1?.(unique);
    return (
      (compiled as ProcessFn | undefined) ??
      ((value, timestampMs) => operator.processElement1(value, timestampMs))
    );
  }
  const compiled = operator.compile2?.(unique);
  return (
    (compiled as ProcessFn | undefined) ??
    ((value, timestampMs) => operator.processElement2(value, timestampMs))
  );
}
