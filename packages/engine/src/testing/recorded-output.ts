/** The output of an operator in the harness: everything that comes out, in order, copied by codec as an exchange would. */
import { NO_TIMESTAMP } from '../base/index.ts';
import type { Output } from '../runtime/index.ts';
import {
  createSerializer,
  decodeFromBytes,
  encodeToBytes,
  type TypeInformation,
  type TypeSerializer,
} from '../types/index.ts';
import { deepFreeze } from './frozen-reads.ts';

/** One thing that came out. `timestamp` is undefined for a record without one. */
export type HarnessEvent =
  | { readonly kind: 'record'; readonly value: unknown; readonly timestamp: number | undefined }
  | {
      readonly kind: 'side';
      readonly tag: string;
      readonly value: unknown;
      readonly timestamp: number | undefined;
    }
  | { readonly kind: 'watermark'; readonly timestamp: number }
  | { readonly kind: 'status'; readonly idle: boolean };

export class RecordedOutput implements Output<unknown> {
  /** In the order in which it came out. */
  readonly events: HarnessEvent[] = [];
  /** Called after each record. */
  onRecord: () => void = () => {};
  /** True: watermarks are not recorded. */
  isMuted = false;
  private readonly serializer: TypeSerializer<unknown>;
  private readonly sideSerializers = new Map<string, TypeSerializer<unknown>>();
  private readonly sideTypes: Readonly<Record<string, TypeInformation<unknown>>>;

  constructor(
    type: TypeInformation<unknown> | undefined,
    sideTypes: Readonly<Record<string, TypeInformation<unknown>>>,
  ) {
    this.serializer = createSerializer(type, 'output of the operator');
    this.sideTypes = sideTypes;
  }

  collect(value: unknown, timestampMs: number): void {
    this.events.push({ kind: 'record', value: copy(this.serializer, value), timestamp: shown(timestampMs) });
    deepFreeze(value);
    this.onRecord();
  }

  collectSide(tag: string, value: unknown, timestampMs: number): void {
    let serializer = this.sideSerializers.get(tag);
    if (serializer === undefined) {
      serializer = createSerializer(this.sideTypes[tag], `side output ${tag}`);
      this.sideSerializers.set(tag, serializer);
    }
    this.events.push({ kind: 'side', tag, value: copy(serializer, value), timestamp: shown(timestampMs) });
    deepFreeze(value);
    this.onRecord();
  }

  emitWatermark(watermarkMs: number): void {
    if (!this.isMuted) this.events.push({ kind: 'watermark', timestamp: watermarkMs });
  }

  emitWatermarkStatus(idle: boolean): void {
    if (!this.isMuted) this.events.push({ kind: 'status', idle });
  }
}

/** What a receiver of the value would get. */
export function copy<T>(serializer: TypeSerializer<T>, value: T): T {
  return decodeFromBytes(serializer, encodeToBytes(serializer, value));
}

function shown(timestampMs: number): number | undefined {
  return timestampMs === NO_TIMESTAMP ? undefined : timestampMs;
}
