import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CHECKPOINT_DIR,
  CHECKPOINTING_INTERVAL,
  CHECKPOINTING_MODE,
  CHECKPOINTING_NUM_RETAINED,
  CHECKPOINTING_TIMEOUT,
  RESTORE_DROP_STATE,
  SAVEPOINT_DIR,
  UNALIGNED_ENABLED,
} from './checkpoint-options.ts';
import { Configuration } from './configuration.ts';
import { MillraceError } from './error.ts';
import {
  DEFAULT_PARALLELISM,
  EXPONENTIAL_MULTIPLIER,
  RESTART_STRATEGY,
  STATE_BACKEND,
} from './execution-options.ts';

function refused(action: () => unknown): MillraceError {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof MillraceError);
    assert.equal(error.code, 'CONFIG_INVALID');
    return error;
  }
  assert.fail('expected CONFIG_INVALID');
}

describe('a configuration file', () => {
  it('may be flat, nested or mixed', () => {
    const texts = [
      'execution.checkpointing.interval: 10 s\nexecution.checkpointing.mode: AT_LEAST_ONCE\nparallelism.default: 4',
      'execution:\n  checkpointing:\n    interval: 10 s\n    mode: at_least_once\nparallelism:\n  default: "4"',
      'execution.checkpointing: {interval: 10000, mode: at_least_once}\nparallelism.default: 4 # cores',
    ];
    for (const text of texts) {
      const configuration = Configuration.parse(text);
      assert.equal(configuration.get(CHECKPOINTING_INTERVAL), 10_000);
      assert.equal(configuration.get(CHECKPOINTING_MODE), 'AT_LEAST_ONCE');
      assert.equal(configuration.get(DEFAULT_PARALLELISM), 4);
    }
  });

  it('that sets nothing gives the defaults', () => {
    for (const text of ['', '# nothing\n', 'execution:\n  checkpointing:\n    # interval: 3\n', '---\n']) {
      const configuration = Configuration.parse(text);
      assert.equal(configuration.get(CHECKPOINTING_INTERVAL), undefined);
      assert.equal(configuration.get(CHECKPOINTING_TIMEOUT), 600_000);
      assert.deepEqual(configuration.toObject(), {});
    }
  });

  it('with an unknown key is refused with file, line and the nearest known key', () => {
    const error = refused(() => Configuration.parse('a.b: 1\n', 'conf/config.yaml'));
    assert.match(error.message, /^conf\/config\.yaml:1: unknown configuration key "a\.b"; docs\/reference/);
    const near = refused(() =>
      Configuration.parse('execution:\n  checkpointing:\n    intervall: 3 s\n', 'config.yaml'),
    );
    assert.equal(
      near.message,
      'config.yaml:3: unknown configuration key "execution.checkpointing.intervall"; ' +
        'did you mean "execution.checkpointing.interval"?',
    );
    assert.deepEqual(near.details, {
      file: 'config.yaml',
      line: 3,
      key: 'execution.checkpointing.intervall',
      nearest: 'execution.checkpointing.interval',
    });
  });

  it('with a wrong value is refused with file, line, key, the expected type and what was found', () => {
    const cases: [string, RegExp][] = [
      [
        'parallelism.default: many',
        /:1: wrong value for "parallelism.default" \(integer\): expected a whole number, found "many"$/,
      ],
      ['parallelism.default: 0', /expected at least 1, found 0/],
      ['parallelism.default: 1.5', /expected a whole number, found 1.5/],
      ['\nexecution.checkpointing.timeout: 5', /:2: .*\(duration\): expected at least 10 ms, found 5/],
      ['execution.checkpointing.mode: TWICE', /\(one of EXACTLY_ONCE, AT_LEAST_ONCE\): .*found "TWICE"/],
      ['execution.checkpointing.incremental: maybe', /expected true or false, found "maybe"/],
      [
        'execution.checkpointing.data-inline-threshold: 2 mb',
        /\(memory\): expected at most 1 mb, found "2 mb"/,
      ],
      ['parallelism.default:', /the value is missing/],
      ['parallelism.default: [1, 2]', /expected a whole number, found \[1,2\]/],
      ['state.checkpoints.dir: {a: 1}', /unknown configuration key "state.checkpoints.dir.a"/],
      [
        'restart-strategy.exponential-delay.backoff-multiplier: 0.5',
        /\(number\): expected at least 1, found 0.5/,
      ],
    ];
    for (const [text, message] of cases) {
      assert.match(refused(() => Configuration.parse(text)).message, message, text);
    }
  });

  it('that is not YAML, or not a map, or has a key twice, is refused with the line', () => {
    const cases: [string, RegExp][] = [
      ['parallelism.default: [1', /^config\.yaml:1: not valid YAML: /],
      ['parallelism.default: 1\nparallelism.default: 2', /^config\.yaml:2: not valid YAML: .*unique/],
      [
        'parallelism.default: 1\nparallelism:\n  default: 2',
        /^config\.yaml:3: the key "parallelism.default" is there twice; it is in line 1/,
      ],
      ['- parallelism.default', /^config\.yaml:1: expected keys with values/],
      ['just text', /^config\.yaml:1: expected keys with values/],
      ['a: &x 1\nb: *x', /^config\.yaml:2: aliases are not supported/],
      ['[a]: 1', /^config\.yaml:1: a key must be a text/],
      ['a: 1\n---\nb: 2', /not valid YAML/],
    ];
    for (const [text, message] of cases) {
      assert.match(refused(() => Configuration.parse(text)).message, message, text);
    }
  });

  it('that is enormous or absurdly nested is refused', () => {
    assert.match(
      refused(() => Configuration.parse('x'.repeat(1_000_001))).message,
      /at most 1000000 characters/,
    );
    refused(() => Configuration.parse('[ '.repeat(20_000)));
  });

  it('named flink-conf.yaml has lines of key and value, with comments anywhere; the last value counts', () => {
    const text = [
      '# the cluster',
      'jobmanager.rpc.address: localhost',
      'state.backend: filesystem   # old',
      'state.checkpoints.dir: hdfs://192.168.1.1/checkpoint#old',
      'parallelism.default: 1',
      'parallelism.default: 3',
      '',
    ].join('\r\n');
    const configuration = Configuration.parse(text, '/etc/flink/flink-conf.yaml');
    assert.equal(configuration.get(STATE_BACKEND), 'filesystem');
    assert.equal(configuration.get(CHECKPOINT_DIR), 'hdfs://192.168.1.1/checkpoint');
    assert.equal(configuration.get(DEFAULT_PARALLELISM), 3);
    assert.match(
      refused(() => Configuration.parse('parallelism.default:3', 'flink-conf.yaml')).message,
      /^flink-conf\.yaml:1: expected "key: value" with a space after the colon/,
    );
    assert.match(
      refused(() => Configuration.parse('\nparallelism.default: x', 'flink-conf.yaml')).message,
      /^flink-conf\.yaml:2: wrong value/,
    );
  });
});

describe('old keys', () => {
  it('are used when the current key is absent, with a warning that has the place', () => {
    const configuration = Configuration.parse(
      'state.checkpoints.num-retained: 3\nstate.savepoint.dir: hdfs:///flink/savepoints\nexecution.checkpointing.unaligned: true',
    );
    assert.equal(configuration.get(CHECKPOINTING_NUM_RETAINED), 3);
    assert.equal(configuration.get(SAVEPOINT_DIR), 'hdfs:///flink/savepoints');
    assert.equal(configuration.get(UNALIGNED_ENABLED), true);
    assert.ok(
      configuration
        .warnings()
        .includes(
          'config.yaml:1: "state.checkpoints.num-retained" is an old name of "execution.checkpointing.num-retained"',
        ),
    );
  });

  it('lose against the current key, whatever the order', () => {
    const configuration = Configuration.from({ 'execution.checkpointing.dir': '/new' }).set(
      'state.checkpoints.dir',
      '/old',
    );
    assert.equal(configuration.get(CHECKPOINT_DIR), '/new');
    assert.match(configuration.warnings().join(), /"execution.checkpointing.dir" is set too and counts/);
  });

  it('of values are read too', () => {
    for (const [value, kind] of [
      ['off', 'none'],
      ['disable', 'none'],
      ['fixeddelay', 'fixed-delay'],
      ['FAILURE-RATE', 'failure-rate'],
      ['exponentialdelay', 'exponential-delay'],
    ] as const) {
      assert.equal(Configuration.from({ 'restart-strategy': value }).get(RESTART_STRATEGY), kind);
    }
  });
});

describe('a configuration', () => {
  it('is made of an object with dotted or nested keys, and errors name the key', () => {
    const configuration = Configuration.from({
      'parallelism.default': 2,
      execution: { checkpointing: { interval: '5 s', timeout: undefined } },
      'restart-strategy': { 'exponential-delay': { 'backoff-multiplier': '2.5' } },
      millrace: { restore: { 'drop-state': ['a', 'b'] } },
    });
    assert.equal(configuration.get(DEFAULT_PARALLELISM), 2);
    assert.equal(configuration.get(CHECKPOINTING_INTERVAL), 5000);
    assert.equal(configuration.get(EXPONENTIAL_MULTIPLIER), 2.5);
    assert.deepEqual(configuration.get(RESTORE_DROP_STATE), ['a', 'b']);
    assert.match(
      refused(() => Configuration.from({ paralelism: { default: 2 } })).message,
      /^unknown configuration key "paralelism.default"; did you mean "parallelism.default"\?$/,
    );
  });

  it('set by option is checked like any other', () => {
    assert.match(
      refused(() => new Configuration().set(DEFAULT_PARALLELISM, 0)).message,
      /expected at least 1/,
    );
  });

  it('warns of what is set and has no effect yet, unless it is the default or of the cluster', () => {
    const configuration = Configuration.from({
      'rest.port': 80,
      'execution.checkpointing.write-buffer-size': 4096,
      'execution.checkpointing.file-merging.enabled': true,
    });
    assert.deepEqual(configuration.warnings(), [
      '"execution.checkpointing.file-merging.enabled" is set to true and has no effect yet',
    ]);
  });

  it('goes through plain data and back', () => {
    const configuration = Configuration.parse(
      'state.backend: rocksdb\nexecution.checkpointing.interval: 1 min',
    );
    const copy = Configuration.from(JSON.parse(JSON.stringify(configuration.toObject())));
    assert.deepEqual(copy.toObject(), configuration.toObject());
    assert.equal(copy.get(CHECKPOINTING_INTERVAL), 60_000);
  });

  it('loses a value under all its names, and copies share nothing', () => {
    const configuration = Configuration.from({ 'state.checkpoints.dir': '/a' });
    const copy = configuration.clone();
    configuration.unset(CHECKPOINT_DIR);
    assert.equal(configuration.contains(CHECKPOINT_DIR), false);
    assert.equal(copy.get(CHECKPOINT_DIR), '/a');
  });
});
