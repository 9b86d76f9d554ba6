/**
 * What undescribed values at one place look like, learned from their bytes in the general encoding (value-tags.ts). Both
 * sides learn from bytes: no user's getter or proxy is asked, and what a writer and a reader see is the same.
 *
 * Used by the learning places (learned-codec.ts); the emitters (emit-learned-*.ts) make code of a ValueShape. A shape is
 * advice for speed: values that are not of it are as welcome.
 *
 * Invariants:
 * I1 What is remembered is bounded, whatever the values: in depth, in shapes of objects at one place, in fields and in
 *    the length of names.
 */
import { ByteView } from './byte-view.ts';
import { skipValue } from './read-value.ts';
import { readString, writeString } from './string-codec.ts';
import {
  HEAD_BYTES,
  TAG_ARRAY,
  TAG_BIGINT,
  TAG_DATE,
  TAG_FALSE,
  TAG_HOLE,
  TAG_NULL,
  TAG_NUMBER,
  TAG_OBJECT,
  TAG_STRING,
  TAG_TRUE,
  TAG_UNDEFINED,
} from './value-tags.ts';

/** What has no parts, in the order in which code asks for it. */
export type SimpleKind = 'number' | 'string' | 'boolean' | 'null' | 'undefined' | 'bigint' | 'date';

/** What values at a place may be: any of the kinds, shapes and arrays that are listed. */
export interface ValueShape {
  readonly simple: readonly SimpleKind[];
  /** Plain objects. */
  readonly objects: readonly ObjectShape[];
  /** Of the elements of arrays, if arrays without gaps are among the values. */
  readonly element: ValueShape | undefined;
  /** Something else was there too, or too little of it to be worth code. */
  readonly others: boolean;
}

/** A plain object with these fields in this order. */
export interface ObjectShape {
  readonly names: readonly string[];
  readonly values: readonly ValueShape[];
}

/** Parts below this depth are not looked into. */
const DEPTH_MAX = 5;
/** Shapes of objects at one place that get code. */
const SHAPES_MAX = 4;
/** Shapes that are counted until it is known which of them are frequent. */
const CANDIDATES_MAX = 12;
/** A shape gets code if it is at least one of so many objects at its place. */
const RARE = 8;
/** Fields of all objects that get code at one place: code must stay of a size that V8 optimises. */
const FIELDS_MAX = 200;
/** Fields that are remembered at one place, those of candidates too. */
const REMEMBERED_FIELDS_MAX = 2000;
/** A longer name is data, not a field. */
const NAME_UNITS_MAX = 100;
/** Elements of one array that are looked at. */
const ELEMENTS_MAX = 16;

const SIMPLE_KINDS: readonly (readonly [SimpleKind, readonly number[]])[] = [
  ['number', [TAG_NUMBER]],
  ['string', [TAG_STRING]],
  ['boolean', [TAG_FALSE, TAG_TRUE]],
  ['null', [TAG_NULL]],
  ['undefined', [TAG_UNDEFINED]],
  ['bigint', [TAG_BIGINT]],
  ['date', [TAG_DATE]],
];

/** Objects with the same names in the same order. */
interface ObservedObject {
  readonly names: readonly string[];
  readonly values: readonly ObservedValue[];
  /** Since the last learning. */
  count: number;
}

/** What may still be added at one place, at all depths together. */
interface Room {
  remembered: number;
  learned: number;
}

/** The values of one place, as far as they were observed. */
export class ObservedValue {
  private readonly room: Room;
  private readonly tags = new Set<number>();
  /** Shapes of objects that were learned, and those that may be. */
  private readonly learned: ObservedObject[] = [];
  private candidates: ObservedObject[] = [];
  /** Objects since the last learning. */
  private objects = 0;
  private element: ObservedValue | undefined;
  private others = false;

  constructor(room: Room = { remembered: REMEMBERED_FIELDS_MAX, learned: FIELDS_MAX }) {
    this.room = room;
  }

  /** Looks at the value that is encoded at `p`, and leaves `view` as it was. */
  observe(view: ByteView, p: number): void {
    const { pos } = view;
    this.look(view, p, 0);
    view.pos = pos;
  }

  /**
   * What there was so far. Shapes of objects that were learned once stay; of those that were seen since, the frequent ones
   * are added as long as there is room, and the others forgotten.
   */
  learn(): ValueShape {
    this.learnShapes();
    const simple = SIMPLE_KINDS.filter(([, tags]) => tags.some((tag) => this.tags.has(tag)));
    return {
      simple: simple.map(([kind]) => kind),
      objects: this.learned.map(({ names, values }) => ({
        names,
        values: values.map((each) => each.learn()),
      })),
      element: this.element?.learn(),
      others: this.others,
    };
  }

  private look(view: ByteView, p: number, depth: number): void {
    const tag = view.u8[p]!;
    if (tag < TAG_ARRAY) this.tags.add(tag);
    else if (tag === TAG_OBJECT && depth < DEPTH_MAX) this.lookIntoObject(view, p, depth);
    else if (tag === TAG_ARRAY && depth < DEPTH_MAX) this.lookIntoArray(view, p, depth);
    else this.others = true;
  }

  private lookIntoObject(view: ByteView, p: number, depth: number): void {
    this.objects++;
    const names: string[] = [];
    const starts: number[] = [];
    for (let q = p + HEAD_BYTES, end = skipValue(view, p); q < end; q = skipValue(view, q)) {
      const name = readString(view, view.u8, q);
      // In a literal __proto__ would not be a field.
      if (names.length === FIELDS_MAX || name.length > NAME_UNITS_MAX || name === '__proto__') return;
      names.push(name);
      q = view.pos;
      starts.push(q);
    }
    const object = this.objectOf(names);
    if (object === undefined) return;
    object.count++;
    for (const [i, start] of starts.entries()) object.values[i]!.look(view, start, depth + 1);
  }

  private objectOf(names: readonly string[]): ObservedObject | undefined {
    const isSame = (each: ObservedObject) =>
      each.names.length === names.length && each.names.every((name, i) => name === names[i]);
    const known = this.learned.find(isSame) ?? this.candidates.find(isSame);
    if (known !== undefined) return known;
    if (this.candidates.length === CANDIDATES_MAX || names.length > this.room.remembered) return undefined;
    this.room.remembered -= names.length;
    const added = { names, values: names.map(() => new ObservedValue(this.room)), count: 0 };
    this.candidates.push(added);
    return added;
  }

  private lookIntoArray(view: ByteView, p: number, depth: number): void {
    this.element ??= new ObservedValue(this.room);
    const end = skipValue(view, p);
    for (let q = p + HEAD_BYTES, i = 0; q < end && i < ELEMENTS_MAX; q = skipValue(view, q), i++) {
      const tag = view.u8[q]!;
      // A hole and undefined are the same to code that reads an element; only the general codec tells them apart.
      if (tag === TAG_UNDEFINED || tag === TAG_HOLE) this.others = true;
      else this.element.look(view, q, depth + 1);
    }
  }

  private learnShapes(): void {
    const { room, learned, objects } = this;
    for (const each of this.candidates.sort((a, b) => b.count - a.count)) {
      const isWanted = each.count * RARE >= objects && learned.length < SHAPES_MAX;
      if (isWanted && each.names.length <= room.learned) {
        room.learned -= each.names.length;
        learned.push(each);
      } else room.remembered += fieldsOf(each);
    }
    this.candidates = [];
    const known = learned.reduce((sum, { count }) => sum + count, 0);
    if (known < objects) this.others = true;
    this.objects = 0;
    for (const each of learned) each.count = 0;
  }

  /** Fields that are remembered here, at all depths. */
  fields(): number {
    const objects = [...this.learned, ...this.candidates];
    return objects.reduce((sum, each) => sum + fieldsOf(each), this.element?.fields() ?? 0);
  }
}

function fieldsOf({ names, values }: ObservedObject): number {
  return values.reduce((sum, value) => sum + value.fields(), names.length);
}

/** Bytes of every value of this shape, tag included, if all have the same; else undefined. */
export function encodedSizeOf({ simple, objects, element, others }: ValueShape): number | undefined {
  if (others || element !== undefined || simple.length + objects.length !== 1) return undefined;
  if (objects.length === 1) return encodedObjectSizeOf(objects[0]!);
  switch (simple[0]!) {
    case 'number':
    case 'date':
      return 9;
    case 'boolean':
    case 'null':
    case 'undefined':
      return 1;
    case 'string':
    case 'bigint':
      return undefined;
  }
}

/** The same of an object. */
export function encodedObjectSizeOf({ names, values }: ObjectShape): number | undefined {
  let size = HEAD_BYTES;
  for (const [i, name] of names.entries()) {
    const valueSize = encodedSizeOf(values[i]!);
    if (valueSize === undefined) return undefined;
    size += encodedName(name).length + valueSize;
  }
  return size;
}

/** The bytes of the name of a field. */
export function encodedName(name: string): Uint8Array {
  const view = ByteView.allocate(HEAD_BYTES + 3 * NAME_UNITS_MAX);
  return view.u8.subarray(0, writeString(view, view.u8, name, 0, view.limit));
}
