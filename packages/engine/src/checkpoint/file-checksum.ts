/**
 * The checksums that tell a damaged state file from an intact one; the manifest says which of them a file has. Computed by
 * the streams of the tasks, compared by the snapshot reader.
 *
 * Checkpoints have CRC-32: every byte of the state passes here once a checkpoint, and SHA-256 takes three times as long, ten
 * times where the processor has no instructions for it. It finds what disks, file systems and cut copies do to a file: of
 * random changes one in 2^32 escapes, of those within 32 bits none. It is no defence against forgers, but nor is a hash
 * that the manifest beside the file could be made to agree with; and no file is found or named by it.
 * Savepoints have SHA-256: they are rare, kept for long, carried about, and read by versions that do not know CRC-32.
 */
import type { Platform } from '../platform/index.ts';

export type ChecksumKind = 'crc32' | 'sha256';

/** Of a whole file, lower-case hex. */
export type FileChecksum =
  | { readonly crc32: string; readonly sha256?: undefined }
  | { readonly sha256: string; readonly crc32?: undefined };

/** A checksum that is being computed. */
export interface RunningChecksum {
  update(bytes: Uint8Array): void;
  /** Once. */
  finish(): FileChecksum;
}

/** What checksums need of the platform. */
export type Checksumming = Pick<Platform, 'hasher' | 'crc32'>;

export function startChecksum(kind: ChecksumKind, platform: Checksumming): RunningChecksum {
  if (kind === 'sha256') {
    const hasher = platform.hasher();
    return {
      update: (bytes) => hasher.update(bytes),
      finish: () => ({ sha256: hasher.digestHex() }),
    };
  }
  let value = 0;
  return {
    update: (bytes) => {
      value = platform.crc32(bytes, value);
    },
    finish: () => ({ crc32: value.toString(16).padStart(8, '0') }),
  };
}

/** Which one a file has. */
export function kindOf(checksum: FileChecksum): ChecksumKind {
  return checksum.crc32 === undefined ? 'sha256' : 'crc32';
}

export function isSame(a: FileChecksum, b: FileChecksum): boolean {
  return a.crc32 === b.crc32 && a.sha256 === b.sha256;
}
