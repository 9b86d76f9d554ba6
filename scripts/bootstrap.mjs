/**
 * Makes node_modules what package-lock.json says. The npm scripts start it first, so that a fresh clone needs
 * nothing but npm; it runs on the machine's own Node (20 or newer) and uses nothing that is not installed yet.
 *
 * npm writes node_modules/.package-lock.json as the last step of an installation. When that file agrees with
 * package-lock.json nothing is done, and no network is needed.
 *
 * The pinned Node comes as an npm package per platform and lands in node_modules/.bin/node. There is none for
 * macOS: there the machine's Node is linked in its place, if it is of the pinned major version or newer.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PINNED_MAJOR = 24;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const pinnedNode = join(modules, '.bin', 'node');

if (!isInstalled()) {
  install();
}
if (!existsSync(pinnedNode)) {
  linkOwnNode();
}

function isInstalled() {
  const installedLock = join(modules, '.package-lock.json');
  if (!existsSync(installedLock)) {
    return false;
  }
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(installedLock);
  for (const [path, entry] of Object.entries(wanted)) {
    const found = installed[path];
    if (path === '' || (found === undefined && entry.optional === true)) {
      continue;
    }
    if (
      found?.version !== entry.version ||
      found?.integrity !== entry.integrity ||
      found?.link !== entry.link
    ) {
      return false;
    }
  }
  return Object.keys(installed).every((path) => wanted[path] !== undefined);
}

function readPackages(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}

/** No installed package needs its install script: native parts come as packages of their own. */
function install() {
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []];
  const options = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  console.error('installing dependencies (npm ci)');
  const result = spawnSync(command, [...first, ...options], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (result.status !== 0) {
    console.error('npm ci failed; the messages above say why');
    process.exit(result.status ?? 1);
  }
}

function linkOwnNode() {
  const major = Number.parseInt(process.versions.node, 10);
  if (major < PINNED_MAJOR) {
    console.error(
      `npm has no Node ${PINNED_MAJOR} for ${process.platform}-${process.arch}, and this is Node ${process.versions.node}: ` +
        `start again with Node ${PINNED_MAJOR} or newer`,
    );
    process.exit(1);
  }
  console.error(
    `npm has no Node ${PINNED_MAJOR} for ${process.platform}-${process.arch}: using this Node ${process.versions.node}`,
  );
  symlinkSync(process.execPath, pinnedNode);
}
