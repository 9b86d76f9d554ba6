/**
 * A pending file of FileSink as checkpoints hold it: as a committable when it has ended, as state of the writer while it
 * goes on. What is in the file up to `sizeBytes` is durable by then.
 */
import { MillraceError } from '../../base/index.ts';
import type { TypeInformation } from '../../types/index.ts';

/** Names are relative to the sink's directory. */
export interface FileCommittable {
  readonly pendingName: string;
  readonly finishedName: string;
  readonly sizeBytes: number;
}

export const FILE_COMMITTABLE: TypeInformation<FileCommittable> = {
  description: {
    kind: 'pojo',
    name: 'FileCommittable',
    fields: [
      { name: 'pendingName', type: { kind: 'string' } },
      { name: 'finishedName', type: { kind: 'string' } },
      { name: 'sizeBytes', type: { kind: 'long' } },
    ],
  },
};

/** SINK_COMMIT_LOST; `found` says what is there instead. */
export function commitLost(
  sinkName: string,
  directory: string,
  committable: FileCommittable,
  found: string,
): MillraceError {
  return new MillraceError(
    'SINK_COMMIT_LOST',
    `sink "${sinkName}": ${directory}/${committable.finishedName} (${committable.sizeBytes} bytes) is part of a ` +
      `completed checkpoint but cannot be made visible: ${found} (pending: ${committable.pendingName}). Was it moved or ` +
      'deleted? Put it back under one of the two names and start again, or start from another checkpoint.',
    { details: { sink: sinkName, directory, ...committable } },
  );
}
