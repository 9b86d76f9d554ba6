/**
 * The text of `_metadata`: writes a manifest as readable JSON and reads it back, trusting nothing. docs/formats/manifest.md
 * describes the format with an example. Pure; the storages and the snapshot reader call it.
 *
 *   {                                   ┐
 *     "format": "millrace-snapshot",    │ these two come first
 *     "version": 1, 2 or 3,               │ in every version
 *     ...                               │
 *     "files": [...]                    ┘ ◀── hashed: every byte up to here
 *   ,\n  "sha256": "<64 hex>"\n}\n           the last 83 bytes, in every version
 *
 * Invariants:
 * I1 What `parseMetadata` returns was hashed: no byte of it is torn or changed.
 * I2 Every path in it stays below the snapshot's directory; every handle lies within a listed file.
 * I3 Writing what was read gives the same bytes.
 *
 * Version 2 adds `inFlight`, version 3 files with `crc32` instead of `sha256`. The lowest is written that can say what is
 * to be said: whoever knows version 1 reads every savepoint of a job whose barriers overtook nothing.
 */
import { MAX_WATERMARK, MIN_WATERMARK, MillraceError } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import type {
  KeyedStateHandle,
  KeyedStateMetadata,
  OperatorStateHandle,
  StreamHandle,
} from '../state/index.ts';
import { checkTypeDescription, type TypeDescription } from '../types/index.ts';
import type { EdgeIdentity, SnapshotFile } from './acknowledgement.ts';
import {
  type ChannelSnapshot,
  channelProblem,
  EDGE_PARTITIONINGS,
  type EdgeSnapshot,
  edgeKey,
  inFlightBytes,
} from './in-flight-data.ts';
import { checkInteger, JsonObjectReader, JsonProblem } from './json-reader.ts';
import { inconsistencyOf, type OperatorSnapshot, type SnapshotManifest } from './snapshot-manifest.ts';
import { relativePathProblem } from './snapshot-path.ts';

/** What hashing needs of the platform. */
export type Hashing = Pick<Platform, 'hasher'>;

const FORMAT = 'millrace-snapshot';
const VERSION = 3;
const VERSION_WITHOUT_CRC = 2;
const VERSION_WITHOUT_IN_FLIGHT = 1;
const TAIL = /^,\n {2}"sha256": "([0-9a-f]{64})"\n}\n$/;
const TAIL_BYTES = ',\n  "sha256": ""\n}\n'.length + 64;
/** First bytes of a savepoint of Apache Flink. */
const FLINK_MAGIC = [0x49, 0x60, 0x67, 0x2d];

/** Larger manifests are neither written nor read: they would not fit into a string twice. */
export const METADATA_BYTES_MAX = 256 * 1024 * 1024;
const OPERATORS_MAX = 100_000;
const SUBTASKS_MAX = 32_768;
const FILES_MAX = 10_000_000;
const HANDLES_MAX = 1_000_000;
const EDGES_MAX = 1_000_000;
/** Of one exchange. Its channels are at most the square of SUBTASKS_MAX, which no job comes near. */
const CHANNELS_MAX = 10_000_000;

const STATE_KINDS = ['value', 'list', 'map', 'reducing', 'aggregating', 'timers'] as const;
const STATE_MODES = ['split', 'union', 'broadcast'] as const;

/** The bytes of `_metadata`. Throws STATE_TOO_LARGE if there is too much inline state. */
export function formatMetadata(manifest: SnapshotManifest, hashing: Hashing): Uint8Array {
  const { checkpointId, kind, timestampMs, jobName, jobId, lineageId, planHash, millraceVersion } = manifest;
  const version = versionOf(manifest);
  const document = {
    format: FORMAT,
    version,
    ...{ checkpointId, kind, timestampMs, jobName, jobId, lineageId, planHash, millraceVersion },
    operators: manifest.operators.map(operatorToJson),
    inFlight: version === VERSION_WITHOUT_IN_FLIGHT ? undefined : manifest.inFlight.map(edgeToJson),
    files: manifest.files.map(({ path, sizeBytes, sha256, crc32 }) => ({ path, sizeBytes, sha256, crc32 })),
  };
  const text = JSON.stringify(document, undefined, 2);
  const body = Buffer.from(text.slice(0, text.lastIndexOf('\n}')), 'utf8');
  if (body.length > METADATA_BYTES_MAX - TAIL_BYTES) {
    throw new MillraceError(
      'STATE_TOO_LARGE',
      `the metadata of checkpoint ${checkpointId} would have ${body.length} bytes, ${METADATA_BYTES_MAX} are allowed: ` +
        'too much state is inline. Use a lower execution.checkpointing.data-inline-threshold',
      { details: { checkpointId, sizeBytes: body.length, maxBytes: METADATA_BYTES_MAX } },
    );
  }
  const tail = Buffer.from(`,\n  "sha256": "${hashOf(body, hashing)}"\n}\n`, 'latin1');
  return Buffer.concat([body, tail]);
}

/** The lowest that can say it. */
function versionOf({ files, inFlight }: Pick<SnapshotManifest, 'files' | 'inFlight'>): number {
  if (files.some(({ crc32 }) => crc32 !== undefined)) return VERSION;
  return inFlight.length > 0 ? VERSION_WITHOUT_CRC : VERSION_WITHOUT_IN_FLIGHT;
}

function hashOf(bytes: Uint8Array, hashing: Hashing): string {
  const hasher = hashing.hasher();
  hasher.update(bytes);
  return hasher.digestHex();
}

function operatorToJson(operator: OperatorSnapshot): object {
  const { uid, uidIsGenerated, name, kind, parallelism, maxParallelism, key, coordinator } = operator;
  return {
    ...{ uid, uidIsGenerated, name, kind, parallelism, maxParallelism, key },
    coordinator: coordinator === undefined ? undefined : base64(coordinator),
    subtasks: operator.subtasks.map(({ keyed, operator: states }) => ({
      keyed: keyed.map((handle) => ({ ...keyedToJson(handle), stream: streamToJson(handle.stream) })),
      operator: states.map(({ name: state, mode, element, offsets, stream }) => ({
        ...{ name: state, mode, element, offsets: offsets.join(' '), stream: streamToJson(stream) },
      })),
    })),
  };
}

function keyedToJson({ format, keyGroups, maxParallelism, states }: KeyedStateHandle): object {
  return {
    format,
    keyGroups: { first: keyGroups.first, last: keyGroups.last },
    maxParallelism,
    states: states.map(({ name, kind, key, namespace, value, mapKey, entries, sizeBytes }) => ({
      ...{ name, kind, key, namespace, value, mapKey, entries, sizeBytes },
    })),
  };
}

function edgeToJson({ identity, channels, ...edge }: EdgeSnapshot): object {
  const { sourceUid, sideTag, targetUid, input, ordinal } = identity;
  const { partitioning, type, key, senders, receivers, maxParallelism } = edge;
  return {
    ...{ source: sourceUid, sideTag, target: targetUid, input, ordinal },
    ...{ partitioning, type, key, senders, receivers, maxParallelism },
    channels: channels.map(({ sender, receiver, part, watermarkMs, stream }) => ({
      ...{ sender, receiver, part, watermarkMs, stream: streamToJson(stream) },
    })),
  };
}

function streamToJson(stream: StreamHandle): object {
  if (stream.kind === 'inline') return { inline: base64(stream.bytes) };
  return { file: stream.path, offset: stream.offset, lengthBytes: stream.lengthBytes };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/**
 * Reads the bytes of a `_metadata`. `path` is for errors: SNAPSHOT_CORRUPT, SNAPSHOT_FORMAT_NEWER,
 * SNAPSHOT_FORMAT_UNKNOWN.
 */
export function parseMetadata(bytes: Uint8Array, path: string, hashing: Hashing): SnapshotManifest {
  if (bytes.length === 0) throw corrupt(path, 'it is empty');
  if (FLINK_MAGIC.every((byte, index) => bytes[index] === byte)) {
    throw new MillraceError(
      'SNAPSHOT_FORMAT_UNKNOWN',
      `${path} is a savepoint of Apache Flink in its binary format; Millrace reads its own format only`,
      { details: { path } },
    );
  }
  if (bytes.length > METADATA_BYTES_MAX)
    throw corrupt(path, `it has ${bytes.length} bytes, more than is ever written`);
  const body = checkHash(bytes, path, hashing);
  try {
    return readManifest(
      JSON.parse(`${Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')}}`),
      path,
    );
  } catch (error) {
    if (error instanceof MillraceError && error.code !== 'TYPE_INVALID') throw error;
    if (error instanceof JsonProblem || error instanceof SyntaxError || error instanceof MillraceError) {
      throw corrupt(path, error.message, error);
    }
    throw error;
  }
}

/** The bytes that were hashed, if they are what was hashed. */
function checkHash(bytes: Uint8Array, path: string, hashing: Hashing): Uint8Array {
  const bodyLength = Math.max(0, bytes.length - TAIL_BYTES);
  const tail = TAIL.exec(Buffer.from(bytes.subarray(bodyLength)).toString('latin1'));
  if (tail === null) {
    const head = Buffer.from(bytes.subarray(0, 64)).toString('latin1');
    if (!head.includes(FORMAT)) {
      throw new MillraceError(
        'SNAPSHOT_FORMAT_UNKNOWN',
        `${path} is not the metadata of a snapshot of Millrace`,
        {
          details: { path },
        },
      );
    }
    throw corrupt(path, 'its end is missing: it was cut off or overwritten');
  }
  const body = bytes.subarray(0, bodyLength);
  if (hashOf(body, hashing) !== tail[1])
    throw corrupt(path, 'its content has changed: the hash at its end differs');
  return body;
}

function corrupt(path: string, problem: string, cause?: unknown): MillraceError {
  return new MillraceError('SNAPSHOT_CORRUPT', `${path} is damaged: ${problem}`, {
    cause,
    details: { file: path, problem },
  });
}

function readManifest(value: unknown, path: string): SnapshotManifest {
  const reader = new JsonObjectReader(value, '');
  reader.word('format', [FORMAT]);
  const version = reader.integer('version', 1);
  if (version > VERSION) {
    throw new MillraceError(
      'SNAPSHOT_FORMAT_NEWER',
      `${path} has version ${version} of the snapshot format, this Millrace reads up to ${VERSION}: use the version of ` +
        'Millrace that wrote it, or a newer one',
      { details: { path, version, newestKnown: VERSION } },
    );
  }
  const manifest: SnapshotManifest = {
    checkpointId: reader.integer('checkpointId', 0),
    kind: reader.word('kind', ['checkpoint', 'savepoint']),
    timestampMs: reader.integer('timestampMs', 0),
    jobName: reader.text('jobName'),
    jobId: reader.text('jobId'),
    lineageId: reader.text('lineageId'),
    planHash: reader.text('planHash'),
    millraceVersion: reader.text('millraceVersion'),
    operators: reader.list('operators', OPERATORS_MAX, readOperator),
    inFlight: version === VERSION_WITHOUT_IN_FLIGHT ? [] : reader.list('inFlight', EDGES_MAX, readEdge),
    files: reader.list('files', FILES_MAX, version >= VERSION ? readFile : readHashedFile),
  };
  reader.end();
  const problem = inconsistencyOf(manifest);
  if (problem !== undefined) throw new JsonProblem('', `is inconsistent: ${problem}`);
  if (version !== versionOf(manifest))
    throw new JsonProblem('version', `is ${version}, but this is version ${versionOf(manifest)}`);
  const edges = manifest.inFlight.map(({ identity }) => edgeKey(identity));
  if (new Set(edges).size !== edges.length) throw new JsonProblem('inFlight', 'has an exchange twice');
  const uids = manifest.operators.map(({ uid }) => uid);
  if (new Set(uids).size !== uids.length) throw new JsonProblem('operators', 'has a uid twice');
  return manifest;
}

function readOperator(value: unknown, at: string): OperatorSnapshot {
  const reader = new JsonObjectReader(value, at);
  const parallelism = reader.integer('parallelism', 1, SUBTASKS_MAX);
  const key = reader.optional('key');
  const coordinator = reader.optional('coordinator');
  const operator: OperatorSnapshot = {
    uid: reader.text('uid'),
    uidIsGenerated: reader.flag('uidIsGenerated'),
    name: reader.text('name'),
    kind: reader.text('kind'),
    parallelism,
    maxParallelism: reader.integer('maxParallelism', parallelism, SUBTASKS_MAX),
    key: key === undefined ? undefined : readType(key, reader.path('key')),
    subtasks: reader.list('subtasks', SUBTASKS_MAX, (subtask, where) => {
      const members = new JsonObjectReader(subtask, where);
      const keyed = members.list('keyed', HANDLES_MAX, readKeyed);
      const states = members.list('operator', HANDLES_MAX, readOperatorState);
      members.end();
      return { keyed, operator: states };
    }),
    coordinator: coordinator === undefined ? undefined : readBytes(coordinator, reader.path('coordinator')),
  };
  reader.end();
  if (operator.subtasks.length !== parallelism) {
    throw new JsonProblem(
      `${at}.subtasks`,
      `has ${operator.subtasks.length} entries, the parallelism is ${parallelism}`,
    );
  }
  return operator;
}

function readKeyed(value: unknown, at: string): KeyedStateHandle {
  const reader = new JsonObjectReader(value, at);
  const format = reader.word('format', ['heap-1']);
  const maxParallelism = reader.integer('maxParallelism', 1, SUBTASKS_MAX);
  const groups = new JsonObjectReader(reader.required('keyGroups'), reader.path('keyGroups'));
  const first = groups.integer('first', 0, maxParallelism - 1);
  // A subtask may have no key groups: then `last` is just below `first`.
  const last = groups.integer('last', first - 1, maxParallelism - 1);
  groups.end();
  const states = reader.list('states', HANDLES_MAX, readKeyedState);
  const stream = readStream(reader.required('stream'), reader.path('stream'));
  reader.end();
  return { format, keyGroups: { first, last }, maxParallelism, states, stream };
}

function readKeyedState(value: unknown, at: string): KeyedStateMetadata {
  const reader = new JsonObjectReader(value, at);
  const mapKey = reader.optional('mapKey');
  const state = {
    name: reader.text('name'),
    kind: reader.word('kind', STATE_KINDS),
    key: readType(reader.required('key'), reader.path('key')),
    namespace: readType(reader.required('namespace'), reader.path('namespace')),
    value: readType(reader.required('value'), reader.path('value')),
    ...(mapKey === undefined ? {} : { mapKey: readType(mapKey, reader.path('mapKey')) }),
    entries: reader.integer('entries', 0),
    sizeBytes: reader.integer('sizeBytes', 0),
  };
  reader.end();
  return state;
}

function readOperatorState(value: unknown, at: string): OperatorStateHandle {
  const reader = new JsonObjectReader(value, at);
  const handle = {
    name: reader.text('name'),
    mode: reader.word('mode', STATE_MODES),
    element: readType(reader.required('element'), reader.path('element')),
    offsets: readOffsets(reader.text('offsets'), reader.path('offsets')),
    stream: readStream(reader.required('stream'), reader.path('stream')),
  };
  reader.end();
  const length = handle.stream.kind === 'inline' ? handle.stream.bytes.length : handle.stream.lengthBytes;
  if (handle.offsets.some((offset) => offset > length))
    throw new JsonProblem(at, 'has an offset beyond its stream');
  return handle;
}

/** Numbers with a space between: a list of them would take a line for each. */
function readOffsets(text: string, at: string): number[] {
  if (text === '') return [];
  return text.split(' ').map((word) => {
    if (!/^(0|[1-9]\d{0,15})$/.test(word))
      throw new JsonProblem(at, `has "${word.slice(0, 20)}", which is no offset`);
    return checkInteger(Number(word), at, 0, Number.MAX_SAFE_INTEGER);
  });
}

function readEdge(value: unknown, at: string): EdgeSnapshot {
  const reader = new JsonObjectReader(value, at);
  const sideTag = reader.has('sideTag') ? reader.text('sideTag') : undefined;
  const identity: EdgeIdentity = {
    sourceUid: reader.text('source'),
    sideTag,
    targetUid: reader.text('target'),
    input: reader.integer('input', 0, 1) as 0 | 1,
    ordinal: reader.integer('ordinal', 0, EDGES_MAX),
  };
  const partitioning = reader.word('partitioning', EDGE_PARTITIONINGS);
  const key = partitioning === 'hash' ? readType(reader.required('key'), reader.path('key')) : undefined;
  const receivers = reader.integer('receivers', 1, SUBTASKS_MAX);
  const edge: EdgeSnapshot = {
    identity,
    partitioning,
    type: readType(reader.required('type'), reader.path('type')),
    key,
    senders: reader.integer('senders', 1, SUBTASKS_MAX),
    receivers,
    maxParallelism: reader.integer('maxParallelism', receivers, SUBTASKS_MAX),
    channels: reader.list('channels', CHANNELS_MAX, readChannel),
  };
  reader.end();
  const problem = channelProblem(edge.channels, edge);
  if (problem !== undefined) throw new JsonProblem(`${at}.channels[${problem.index}]`, problem.text);
  if (inFlightBytes(edge) === 0) throw new JsonProblem(`${at}.channels`, 'has nothing in flight');
  return edge;
}

function readChannel(value: unknown, at: string): ChannelSnapshot {
  const reader = new JsonObjectReader(value, at);
  const part = reader.word('part', ['restored', 'received', 'unsent']);
  const channel: ChannelSnapshot = {
    sender: reader.integer('sender', 0, SUBTASKS_MAX - 1),
    receiver: reader.integer('receiver', 0, SUBTASKS_MAX - 1),
    part,
    watermarkMs: part === 'unsent' ? undefined : reader.integer('watermarkMs', MIN_WATERMARK, MAX_WATERMARK),
    stream: readStream(reader.required('stream'), reader.path('stream')),
  };
  reader.end();
  return channel;
}

function readStream(value: unknown, at: string): StreamHandle {
  const reader = new JsonObjectReader(value, at);
  const inline = reader.optional('inline');
  const stream: StreamHandle =
    inline === undefined
      ? {
          kind: 'file',
          path: readPath(reader.text('file'), reader.path('file')),
          offset: reader.integer('offset', 0),
          lengthBytes: reader.integer('lengthBytes', 0),
        }
      : { kind: 'inline', bytes: readBytes(inline, reader.path('inline')) };
  reader.end();
  return stream;
}

function readFile(value: unknown, at: string, mayHaveCrc = true): SnapshotFile {
  const reader = new JsonObjectReader(value, at);
  const place = {
    path: readPath(reader.text('path'), reader.path('path')),
    sizeBytes: reader.integer('sizeBytes', 0),
  };
  const file =
    mayHaveCrc && reader.has('crc32')
      ? { ...place, crc32: readHex(reader, 'crc32', 8, 'a CRC-32') }
      : { ...place, sha256: readHex(reader, 'sha256', 64, 'a SHA-256') };
  reader.end();
  return file;
}

/** Of the versions that know nothing else. */
function readHashedFile(value: unknown, at: string): SnapshotFile {
  return readFile(value, at, false);
}

function readHex(reader: JsonObjectReader, name: string, digits: number, what: string): string {
  const text = reader.text(name);
  if (text.length !== digits || !/^[0-9a-f]*$/.test(text))
    throw new JsonProblem(reader.path(name), `is not ${what}`);
  return text;
}

function readPath(path: string, at: string): string {
  const problem = relativePathProblem(path);
  if (problem !== undefined) throw new JsonProblem(at, `cannot be used: ${problem}`);
  return path;
}

function readBytes(value: unknown, at: string): Uint8Array {
  if (typeof value !== 'string') throw new JsonProblem(at, 'is not base64');
  const bytes = Buffer.from(value, 'base64');
  if (bytes.toString('base64') !== value) throw new JsonProblem(at, 'is not base64');
  return new Uint8Array(bytes);
}

function readType(value: unknown, at: string): TypeDescription {
  checkTypeDescription(value, at);
  return value;
}
