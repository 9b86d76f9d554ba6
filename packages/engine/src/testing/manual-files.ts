/**
 * A file system in memory that forgets like a disk: what was not synced is lost at a crash.
 *
 * Used through manual-platform.ts by tests of whatever stores something. Every operation is counted, so that a test can
 * fail, tear or crash at each one in turn:
 *
 *   files.failAt(n, 'ENOSPC')     the n-th operation from now fails, others go on
 *   files.tearAt(n, keepBytes)    the n-th, if it is a write, writes that much and fails
 *   files.crashAt(n)              the power fails just before the n-th operation takes effect
 *   files.limitBytes(n)           the disk holds no more than that
 *   files.crash()                 the machine is restarted: synced data and names are there, the rest is not
 *
 * Model. A file has content now and content as of its last sync; a directory has names now and as of its last sync. A crash
 * takes the latter of both, or, with `keep: 'some'`, a random mixture: each name old or new, and of each file's unsynced
 * content a piece, the rest zeros. Renames are atomic, also over a name: a crash keeps both names of one as they were or as
 * they are. Handles and locks from before a crash are dead.
 */
import { MillraceError } from '../base/index.ts';
import {
  type DirectoryLock,
  type FileEntry,
  type FileStat,
  type FileSystem,
  fileSystemError,
  type ReadableFile,
  type WritableFile,
} from '../platform/index.ts';

interface FileNode {
  readonly type: 'file';
  bytes: Uint8Array;
  synced: Uint8Array;
  modifiedMs: number;
  readonly identity: string;
}

interface DirectoryNode {
  readonly type: 'directory';
  names: Map<string, TreeNode>;
  synced: Map<string, TreeNode>;
}

type TreeNode = FileNode | DirectoryNode;

interface Fault {
  readonly type: 'fail' | 'tear' | 'crash';
  readonly at: number;
  readonly errno: string;
  readonly keepBytes: number;
}

export interface CrashOptions {
  /** `synced` (default): everything that was not synced is lost. `some`: a random part of it survives. */
  readonly keep?: 'synced' | 'some';
}

export class ManualFiles implements FileSystem {
  readonly scheme = 'file';
  /** Every operation so far, as `create /a/b`. */
  readonly operations: string[] = [];
  private readonly wallMs: () => number;
  private readonly random: () => number;
  private root: DirectoryNode = emptyDirectory();
  private fileCount = 0;
  private locks = new Map<string, symbol>();
  private faults: Fault[] = [];
  private epoch = 0;
  private isDown = false;
  private bytesMax = Number.POSITIVE_INFINITY;

  constructor(wallMs: () => number, random: () => number) {
    this.wallMs = wallMs;
    this.random = random;
  }

  /** The `n`-th operation from now (1: the next) fails with `errno`, without effect. */
  failAt(n: number, errno = 'EIO'): void {
    this.faults.push({ type: 'fail', at: this.operations.length + n, errno, keepBytes: 0 });
  }

  /** The `n`-th operation from now, a write, takes `keepBytes` bytes and fails. */
  tearAt(n: number, keepBytes: number, errno = 'EIO'): void {
    this.faults.push({ type: 'tear', at: this.operations.length + n, errno, keepBytes });
  }

  /** The power fails before the `n`-th operation from now: it and all later ones reject, until `crash()`. */
  crashAt(n: number): void {
    this.faults.push({ type: 'crash', at: this.operations.length + n, errno: 'EIO', keepBytes: 0 });
  }

  /** All content together may have so many bytes; more is ENOSPC. */
  limitBytes(sizeBytes: number): void {
    this.bytesMax = sizeBytes;
  }

  /** No faults from now on. */
  clearFaults(): void {
    this.faults = [];
    this.bytesMax = Number.POSITIVE_INFINITY;
  }

  /** Power failure and restart. */
  crash(options: CrashOptions = {}): void {
    this.root = this.survivor(this.root, options.keep ?? 'synced', new Map()) as DirectoryNode;
    this.faults = [];
    this.killProcess();
  }

  /** The process is killed, the machine goes on: nothing is lost but handles and locks. */
  killProcess(): void {
    this.locks = new Map();
    this.epoch++;
    this.isDown = false;
  }

  /** The content of a file as it is now, for assertions. Not an operation. */
  peek(path: string): Uint8Array | undefined {
    const node = this.find(path);
    return node?.type === 'file' ? node.bytes : undefined;
  }

  /** Replaces a file's content, durably, as damage does. Not an operation. */
  damage(path: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const node = this.find(path);
    if (node?.type !== 'file') throw new Error(`there is no file ${path} to damage`);
    node.bytes = change(node.bytes.slice());
    node.synced = node.bytes;
  }

  /** Creates a file, or gives one another content in place, durably, as another process does. Not an operation. */
  put(path: string, content: Uint8Array): void {
    const { parent, name } = this.split(path);
    if (parent === undefined) throw new Error(`there is no directory for ${path}`);
    const node = parent.names.get(name) ?? this.newFile();
    if (node.type === 'directory') throw new Error(`${path} is a directory`);
    node.bytes = content.slice();
    node.synced = node.bytes;
    node.modifiedMs = this.wallMs();
    parent.names.set(name, node);
    parent.synced.set(name, node);
  }

  /** Removes something, durably. Not an operation. */
  lose(path: string): void {
    const { parent, name } = this.split(path);
    parent?.names.delete(name);
    parent?.synced.delete(name);
  }

  /** Paths of all files as they are now, sorted. Not an operation. */
  allFiles(): string[] {
    const paths: string[] = [];
    const visit = (node: TreeNode, path: string): void => {
      if (node.type === 'file') paths.push(path);
      else for (const [name, child] of node.names) visit(child, `${path}/${name}`);
    };
    visit(this.root, '');
    return paths.sort();
  }

  async create(path: string): Promise<WritableFile> {
    this.step('create', path);
    const { parent, name } = this.parentOf('create', path);
    if (parent.names.has(name)) throw failure('create', path, 'EEXIST');
    const node = this.newFile();
    parent.names.set(name, node);
    return this.writable(path, node);
  }

  async open(path: string): Promise<ReadableFile> {
    this.step('open', path);
    const node = this.file('open', path);
    const { epoch } = this;
    return {
      sizeBytes: node.bytes.length,
      identity: node.identity,
      read: async (position, lengthBytes) => {
        this.step('read', path, epoch);
        return node.bytes.slice(position, position + lengthBytes);
      },
      close: async () => {
        this.step('close', path, epoch);
      },
    };
  }

  async readAll(path: string): Promise<Uint8Array> {
    this.step('read', path);
    return this.file('read', path).bytes.slice();
  }

  async list(directory: string): Promise<FileEntry[]> {
    this.step('list', directory);
    const node = this.find(directory);
    if (node === undefined) return [];
    if (node.type === 'file') throw failure('list', directory, 'ENOTDIR');
    return [...node.names].map(([name, child]) => ({ name, isDirectory: child.type === 'directory' }));
  }

  async stat(path: string): Promise<FileStat | undefined> {
    this.step('stat', path);
    const node = this.find(path);
    if (node === undefined) return undefined;
    if (node.type === 'directory') return { sizeBytes: 0, isDirectory: true, modifiedMs: 0 };
    const { bytes, modifiedMs, identity } = node;
    return { sizeBytes: bytes.length, isDirectory: false, modifiedMs, identity };
  }

  async makeDirectory(path: string): Promise<void> {
    this.step('makeDirectory', path);
    let node = this.root;
    for (const name of parts(path)) {
      let child = node.names.get(name);
      if (child === undefined) {
        child = emptyDirectory();
        node.names.set(name, child);
        node.synced.set(name, child);
      }
      if (child.type === 'file') throw failure('makeDirectory', path, 'ENOTDIR');
      node = child;
    }
  }

  async rename(from: string, to: string): Promise<void> {
    this.step('rename', from);
    const source = this.parentOf('rename', from);
    const target = this.parentOf('rename', to);
    const node = source.parent.names.get(source.name);
    if (node === undefined) throw failure('rename', from, 'ENOENT');
    source.parent.names.delete(source.name);
    target.parent.names.set(target.name, node);
  }

  async delete(path: string): Promise<void> {
    this.step('delete', path);
    const { parent, name } = this.split(path);
    const node = parent?.names.get(name);
    if (node !== undefined) deleteContent(node);
    parent?.names.delete(name);
  }

  async syncDirectory(path: string): Promise<void> {
    this.step('syncDirectory', path);
    const node = this.find(path);
    if (node === undefined) throw failure('syncDirectory', path, 'ENOENT');
    if (node.type === 'file') throw failure('syncDirectory', path, 'ENOTDIR');
    node.synced = new Map(node.names);
  }

  async truncate(path: string, sizeBytes: number): Promise<void> {
    this.step('truncate', path);
    const node = this.file('truncate', path);
    node.bytes = node.bytes.slice(0, sizeBytes);
    node.synced = node.bytes;
  }

  async lockDirectory(path: string): Promise<DirectoryLock> {
    this.step('lockDirectory', path);
    if (this.find(path)?.type !== 'directory') throw failure('lockDirectory', path, 'ENOENT');
    if (this.locks.has(path)) {
      throw new MillraceError('CHECKPOINT_DIRECTORY_IN_USE', `${path} is used by another job of this test`);
    }
    const lock = Symbol(path);
    this.locks.set(path, lock);
    return {
      release: async () => {
        if (this.locks.get(path) === lock) this.locks.delete(path);
      },
    };
  }

  private writable(path: string, node: FileNode): WritableFile {
    const { epoch } = this;
    return {
      path,
      write: async (bytes) => {
        const fault = this.step('write', path, epoch);
        const kept = fault === undefined ? bytes : bytes.subarray(0, fault.keepBytes);
        if (this.bytesMax < Number.POSITIVE_INFINITY && this.usedBytes() + kept.length > this.bytesMax)
          throw failure('write', path, 'ENOSPC');
        node.bytes = new Uint8Array(Buffer.concat([node.bytes, kept]));
        node.modifiedMs = this.wallMs();
        if (fault !== undefined) throw failure('write', path, fault.errno);
      },
      sync: async () => {
        this.step('sync', path, epoch);
        node.synced = node.bytes;
      },
      close: async () => {
        this.step('close', path, epoch);
      },
    };
  }

  /** Counts an operation and lets its fault happen. Returns the fault of a write that is to be torn. */
  private step(operation: string, path: string, epoch = this.epoch): Fault | undefined {
    if (epoch !== this.epoch) throw failure(operation, path, 'EBADF');
    this.operations.push(`${operation} ${path}`);
    const fault = this.faults.find(({ at }) => at === this.operations.length);
    if (fault?.type === 'crash') this.isDown = true;
    if (this.isDown) throw failure(operation, path, 'EIO');
    if (fault?.type === 'fail') throw failure(operation, path, fault.errno);
    return fault?.type === 'tear' && operation === 'write' ? fault : undefined;
  }

  /** Of all content together. Not an operation. */
  usedBytes(): number {
    const sizeOf = (node: TreeNode): number =>
      node.type === 'file'
        ? node.bytes.length
        : [...node.names.values()].reduce((sum, child) => sum + sizeOf(child), 0);
    return sizeOf(this.root);
  }

  private find(path: string): TreeNode | undefined {
    let node: TreeNode = this.root;
    for (const name of parts(path)) {
      const child: TreeNode | undefined = node.type === 'directory' ? node.names.get(name) : undefined;
      if (child === undefined) return undefined;
      node = child;
    }
    return node;
  }

  private file(operation: string, path: string): FileNode {
    const node = this.find(path);
    if (node === undefined) throw failure(operation, path, 'ENOENT');
    if (node.type === 'directory') throw failure(operation, path, 'EISDIR');
    return node;
  }

  private split(path: string): { parent: DirectoryNode | undefined; name: string } {
    const names = parts(path);
    const name = names.pop() ?? '';
    const parent = this.find(`/${names.join('/')}`);
    return { parent: parent?.type === 'directory' ? parent : undefined, name };
  }

  private parentOf(operation: string, path: string): { parent: DirectoryNode; name: string } {
    const { parent, name } = this.split(path);
    if (parent === undefined) throw failure(operation, path, 'ENOENT');
    return { parent, name };
  }

  /** A node after the power failure. One node stays one, also under two names. */
  private newFile(): FileNode {
    const identity = String(++this.fileCount);
    return { type: 'file', bytes: EMPTY, synced: EMPTY, modifiedMs: this.wallMs(), identity };
  }

  private survivor(node: TreeNode, keep: 'synced' | 'some', known: Map<TreeNode, TreeNode>): TreeNode {
    const before = known.get(node);
    if (before !== undefined) return before;
    if (node.type === 'file') {
      const bytes = keep === 'some' && this.random() < 0.5 ? this.tornContent(node) : node.synced;
      const file: FileNode = { ...node, bytes, synced: bytes };
      known.set(node, file);
      return file;
    }
    const directory = emptyDirectory();
    known.set(node, directory);
    const names = keep === 'some' ? this.mixedNames(node) : node.synced;
    directory.names = new Map([...names].map(([name, child]) => [name, this.survivor(child, keep, known)]));
    directory.synced = new Map(directory.names);
    return directory;
  }

  private tornContent({ bytes, synced }: FileNode): Uint8Array {
    const unsynced = bytes.length - synced.length;
    const kept = synced.length + Math.floor(this.random() * (unsynced + 1));
    const torn = new Uint8Array(this.random() < 0.5 ? bytes.length : kept);
    torn.set(bytes.subarray(0, kept));
    return torn;
  }

  private mixedNames({ names, synced }: DirectoryNode): Map<string, TreeNode> {
    const mixed = new Map<string, TreeNode>();
    for (const group of namesThatGoTogether(names, synced)) {
      const source = this.random() < 0.5 ? names : synced;
      for (const name of group) {
        const child = source.get(name);
        if (child !== undefined) mixed.set(name, child);
      }
    }
    return mixed;
  }
}

/** A directory is deleted name by name, so a power failure may leave some. */
function deleteContent(node: TreeNode): void {
  if (node.type === 'file') return;
  for (const child of node.names.values()) deleteContent(child);
  node.names = new Map();
}

/** Groups of names of one directory of which a crash keeps all as they are now or all as they were: a rename is atomic. */
function namesThatGoTogether(
  names: ReadonlyMap<string, TreeNode>,
  synced: ReadonlyMap<string, TreeNode>,
): string[][] {
  const groups: { readonly names: Set<string>; readonly nodes: Set<TreeNode> }[] = [];
  for (const name of new Set([...names.keys(), ...synced.keys()])) {
    const nodes = new Set([names.get(name), synced.get(name)].filter((node) => node !== undefined));
    const group = { names: new Set([name]), nodes };
    for (const other of groups.filter((each) => [...nodes].some((node) => each.nodes.has(node)))) {
      groups.splice(groups.indexOf(other), 1);
      for (const each of other.names) group.names.add(each);
      for (const node of other.nodes) group.nodes.add(node);
    }
    groups.push(group);
  }
  return groups.map((group) => [...group.names]);
}

const EMPTY = new Uint8Array(0);

function emptyDirectory(): DirectoryNode {
  return { type: 'directory', names: new Map(), synced: new Map() };
}

function parts(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

function failure(operation: string, path: string, errno: string): MillraceError {
  return fileSystemError(
    operation,
    path,
    Object.assign(new Error(`${errno} (a fault of the test)`), { code: errno }),
  );
}
