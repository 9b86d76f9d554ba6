/**
 * Installs the peers of the benchmarks below `.cache`, which git ignores: Apache Flink with its Python API from PyPI, RxJS
 * from npm, and the jobs in flink/, built with Maven. What is there already is left alone; nothing else is downloaded.
 *
 * Called by peers.bench.ts. A peer that cannot be installed is left out, with one line that says what is missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The newest stable release; flink/pom.xml has the same. */
export const FLINK_VERSION = '2.3.0';
export const RXJS_VERSION = '7.8.2';
/** Versions of Python for which PyPI has the Python API of this Flink, best first. */
const PYTHONS = ['python3.11', 'python3.12', 'python3.10', 'python3.9'];
const JAVA_MIN = 17;
const LIBRARIES = ['lib/flink-dist', 'lib/log4j'];
/** Python in a thread of the JVM cannot be loaded a second time with another job. */
const PYTHON_LIBRARIES = [
  ...LIBRARIES,
  'lib/flink-table-api-java-uber',
  'lib/flink-table-runtime',
  'opt/flink-python',
];

const CACHE = join(import.meta.dirname, '.cache');

/** An installed Apache Flink. */
export interface FlinkHome {
  readonly directory: string;
  /** What the cluster has on its class path: Flink, and the jobs of flink/. */
  readonly libraries: string;
  /** The same for jobs in Python. */
  readonly pythonLibraries: string;
  readonly jobs: string;
  readonly java: string;
  readonly javaVersion: string;
  readonly python: string;
  readonly pythonVersion: string;
}

/** Either is undefined if it cannot be had. */
export interface Peers {
  readonly flink: FlinkHome | undefined;
  /** The module to import. */
  readonly rxjs: string | undefined;
}

export function setUpPeers(): Peers {
  return { flink: orMissing('Apache Flink', setUpFlink), rxjs: orMissing('RxJS', setUpRxjs) };
}

/** What is missing on this machine: the peer is left out. */
class MissingError extends Error {}

function orMissing<T>(peer: string, setUp: () => T): T | undefined {
  try {
    return setUp();
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    console.error(`without ${peer}: ${error.message}`);
    return undefined;
  }
}

function setUpFlink(): FlinkHome {
  const java = findJava();
  const python = installPython();
  const directory = globSync('python/lib/python*/site-packages/pyflink', { cwd: CACHE })[0]!;
  const home = join(CACHE, directory);
  const jobs = buildJobs();
  return {
    directory: home,
    libraries: linkLibraries('flink-lib', home, jobs, LIBRARIES),
    pythonLibraries: linkLibraries('flink-lib-python', home, jobs, PYTHON_LIBRARIES),
    jobs,
    ...java,
    python,
    pythonVersion: run(python, ['--version']).replace('Python ', ''),
  };
}

function findJava(): { java: string; javaVersion: string } {
  const java = process.env['JAVA_HOME'] === undefined ? 'java' : join(process.env['JAVA_HOME'], 'bin/java');
  const { status, stderr } = spawnSync(java, ['-version'], { encoding: 'utf8' });
  const version = /version "((\d+)[^"]*)"/.exec(stderr ?? '');
  if (status !== 0 || version === null || Number(version[2]) < JAVA_MIN) {
    throw new MissingError(`a JDK ${JAVA_MIN} or newer is missing (JAVA_HOME, or java on the PATH)`);
  }
  return { java, javaVersion: version[1]! };
}

/** A virtual environment with Flink and its Python API. */
function installPython(): string {
  const environment = join(CACHE, 'python');
  const python = join(environment, 'bin/python');
  if (isInstalled(python, 'apache-flink')) return python;
  const own = PYTHONS.find((name) => spawnSync(name, ['-m', 'venv', '--help']).status === 0);
  if (own === undefined) throw new MissingError(`Python is missing (${PYTHONS.join(', ')})`);
  mkdirSync(CACHE, { recursive: true });
  console.error(`installing Apache Flink ${FLINK_VERSION} from PyPI (about 500 MB)`);
  rmSync(environment, { recursive: true, force: true });
  run(own, ['-m', 'venv', environment]);
  run(python, ['-m', 'pip', 'install', '-q', '--no-cache-dir', `apache-flink==${FLINK_VERSION}`]);
  return python;
}

function isInstalled(python: string, name: string): boolean {
  const { stdout } = spawnSync(python, ['-m', 'pip', 'show', name], { encoding: 'utf8' });
  return (stdout ?? '').split('\n').includes(`Version: ${FLINK_VERSION}`);
}

/** Without network once Maven has what it needs. */
function buildJobs(): string {
  const project = join(import.meta.dirname, 'flink');
  const jar = join(CACHE, 'flink-jobs/bench-flink.jar');
  const sources = globSync('{pom.xml,src/**/*.java}', { cwd: project }).map((file) => join(project, file));
  const newest = Math.max(...sources.map((file) => statSync(file).mtimeMs));
  if (existsSync(jar) && statSync(jar).mtimeMs > newest) return jar;
  if (spawnSync('mvn', ['-v']).status !== 0) throw new MissingError('Maven is missing (mvn on the PATH)');
  console.error('building the jobs for Apache Flink');
  const options = ['-q', '-B', `-Dmaven.repo.local=${join(CACHE, 'maven')}`, '-f', join(project, 'pom.xml')];
  rmSync(dirname(jar), { recursive: true, force: true });
  if (spawnSync('mvn', [...options, '-o', 'package']).status !== 0) run('mvn', [...options, 'package']);
  return jar;
}

/**
 * With the jobs, so that their compiled code stays from job to job; and without SQL, so that no classes are looked for where
 * they are not.
 */
function linkLibraries(name: string, home: string, jobs: string, libraries: readonly string[]): string {
  const folder = join(CACHE, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const jars = globSync(`{${libraries.join(',')}}*.jar`, { cwd: home }).map((jar) => join(home, jar));
  for (const jar of [...jars, jobs]) symlinkSync(jar, join(folder, basename(jar)));
  return folder;
}

function setUpRxjs(): string {
  const folder = join(CACHE, 'npm');
  const manifest = join(folder, 'node_modules/rxjs/package.json');
  const version = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
  if (version !== RXJS_VERSION) {
    console.error(`installing RxJS ${RXJS_VERSION} from npm`);
    const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
    mkdirSync(folder, { recursive: true });
    run('npm', ['install', ...options, `rxjs@${RXJS_VERSION}`]);
  }
  return join(folder, 'node_modules/rxjs/dist/cjs/index.js');
}

/** What the program printed. A program that fails leaves the peer out, with the last lines it printed. */
function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status === 0) return stdout.trim();
  const last = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-5).join(' | ');
  throw new MissingError(`${program} ${args.join(' ')} failed: ${last}`);
}
