/**
 * Who may import whom. `FLOORS` is the one list of the engine's floors, bottom first; ARCHITECTURE.md says what
 * each holds, and a tidy test compares the two. Type imports count like others.
 *
 * I1  A floor imports only lower floors, and only their front door `index.ts`.
 * I2  `testing` may import everything; only tests and the entry `@millrace/engine/testing` import it.
 * I3  What Node offers (files, threads, sockets, time, …) is imported by `platform/node` alone, and that folder
 *     by the floors that start things, through its own front door.
 * I4  Packages know each other by their entries; only the simulator looks inside. Nobody imports it but its command.
 * I5  No cycles, but among the classes of streams that users chain calls on: each makes the others.
 */
export const FLOORS = [
  'base',
  'platform',
  'types',
  'state',
  'checkpoint',
  'exchange',
  'runtime',
  'operators',
  'connectors',
  'graph',
  'coordinator',
  'api',
];

/** The places outside `platform/node` that may import a Node module, and why. */
const BUILTIN_EXCEPTIONS = [
  {
    module: 'module',
    path: '^packages/engine/src/base/library\\.ts$',
    reason: 'libraries that a synchronous API needs are loaded when it is first called',
  },
];

const ENGINE = '^packages/engine/src';
const TEST = '\\.test\\.ts$';

/** I1: everything of the engine that a file of this floor must not import. */
function floorRule(floor, index) {
  const lower = FLOORS.slice(0, index);
  const frontDoors = lower.length === 0 ? [] : [`${ENGINE}/(${lower.join('|')})/index\\.ts$`];
  return {
    name: `floor-${floor}`,
    comment: `${floor} imports only the index.ts of lower floors: ${lower.join(', ') || 'there are none'}`,
    severity: 'error',
    from: { path: `${ENGINE}/${floor}/`, pathNot: TEST },
    to: { path: `${ENGINE}/`, pathNot: [`${ENGINE}/${floor}/`, ...frontDoors, ...platformNodeFor(floor)] },
  };
}

/** The tests of a floor may also use `testing`. */
function floorTestRule(floor, index) {
  const rule = floorRule(floor, index);
  return {
    ...rule,
    name: `floor-${floor}-tests`,
    from: { path: `${ENGINE}/${floor}/.*${TEST}` },
    to: {
      ...rule.to,
      pathNot: [...rule.to.pathNot, `${ENGINE}/testing/`, `${ENGINE}/platform/node/index\\.ts$`],
    },
  };
}

function platformNodeFor(floor) {
  return floor === 'coordinator' || floor === 'api' ? [`${ENGINE}/platform/node/index\\.ts$`] : [];
}

function builtinRules() {
  const exempt = BUILTIN_EXCEPTIONS.map(({ path }) => path);
  const rule = {
    name: 'node-modules-of-the-platform',
    comment: 'only platform/node imports what Node offers',
    severity: 'error',
    from: { path: '^packages/[^/]+/src/', pathNot: [TEST, `${ENGINE}/(platform/node|testing)/`, ...exempt] },
    to: { dependencyTypes: ['core'] },
  };
  const exceptionRules = BUILTIN_EXCEPTIONS.map(({ module, path, reason }) => ({
    ...rule,
    name: `node-modules-of-the-platform-except-${module}`,
    comment: `${module} alone is allowed here: ${reason}`,
    from: { path },
    to: { dependencyTypes: ['core'], pathNot: `^(node:)?${module}$` },
  }));
  return [rule, ...exceptionRules];
}

export default {
  forbidden: [
    ...FLOORS.map(floorRule),
    ...FLOORS.map(floorTestRule),
    {
      name: 'entry-of-the-engine',
      comment: 'the entries of the engine import only front doors',
      severity: 'error',
      from: { path: `${ENGINE}/[^/]+\\.ts$`, pathNot: TEST },
      to: {
        path: `${ENGINE}/`,
        pathNot: [`${ENGINE}/[^/]+/index\\.ts$`, `${ENGINE}/platform/node/index\\.ts$`],
      },
    },
    {
      name: 'testing-is-for-tests',
      comment: 'only tests import testing',
      severity: 'error',
      from: {
        pathNot: [
          TEST,
          `${ENGINE}/testing/`,
          '^packages/(sim|millrace/src/testing\\.ts|[^/]+/test/)',
          '^(bench|examples)/',
        ],
      },
      to: { path: `${ENGINE}/testing/` },
    },
    ...builtinRules(),
    {
      name: 'packages-by-their-entries',
      comment: 'a package is imported by the entries that its package.json names',
      severity: 'error',
      from: { path: '^(packages/([^/]+)|bench|examples)/', pathNot: [TEST, '^packages/sim/'] },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot: ['^packages/$2/', '^packages/[^/]+/src/(index|connector|testing|testing/index)\\.ts$'],
      },
    },
    {
      name: 'nobody-imports-the-simulator',
      comment: 'the simulator imports the engine, never the other way round',
      severity: 'error',
      from: { pathNot: '^(packages|scripts)/sim/' },
      to: { path: '^packages/sim/' },
    },
    {
      name: 'no-cycles',
      comment: 'a cycle has no bottom; move what both sides need to a lower file',
      severity: 'error',
      from: {},
      to: { circular: true, via: { pathNot: `${ENGINE}/api/streams/` } },
    },
    {
      name: 'resolvable',
      comment: 'the imported module does not exist or is not in package.json',
      severity: 'error',
      from: { path: '^(packages|bench|examples|scripts|tidy)/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'declared',
      comment: 'sources import only what their own package.json lists under dependencies',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: [TEST, `${ENGINE}/testing/`] },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['(^|/)node_modules/', '/dist/'] },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['millrace-source', 'import', 'node', 'types', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.d.ts'],
    },
  },
};
