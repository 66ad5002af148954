import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import { CHOSEN_CONFIG_DIFFERENCES } from './chosen-config-differences.ts';
import { compareMembers, type MemberComparison } from './member-comparison.ts';
import {
  createReplay,
  hasRecordings,
  hasRecordedAnswer,
  type RecordedCase,
  recordedCases,
  recordedConfig,
  startRecordedUpstream,
} from './recordings.ts';

if (!hasRecordings)
  console.warn('SKIPPED: the recorded answers of the reference (../shared/data/reference) are not here.');

/** Addresses of the upstreams in the recording: of models, and of pass-through targets. */
const RECORDED_MODELS = '127.0.0.1:9912';
const RECORDED_TARGETS = '127.0.0.1:9913';

/** Admin key of the recording. */
const ADMIN_KEY = 'sk-ref-Zq3vN8xT1kLr7WmPb5Yc2Hd9';

interface Hosts {
  readonly models: string;
  readonly targets: string;
}

/** First and last case of `models_config` about settings. */
const FIRST_SETTING = 'config/yaml GET';
const LAST_SETTING = 'patch cost_margin reset';

/** Paths of other subjects, whose recordings are compared in their own tests. */
const OTHER_SUBJECTS =
  /^\/(user\/new|v1\/mcp|guardrails|prompts|credentials|model\/|get_favicon|get_image|openapi\.json)/;

/** False for cases that the reference answers with a 500, and for the path `/`. */
const isExpectedHere = ({ status, path }: RecordedCase): boolean => status !== 500 && path !== '/';

const isCompared = (recorded: RecordedCase): boolean =>
  recorded.method !== 'CONFIG' &&
  hasRecordedAnswer(recorded) &&
  isExpectedHere(recorded) &&
  !OTHER_SUBJECTS.test(recorded.path);

/** Member of our answers that the reference does not have. */
const ADDED_MEMBER = '"stored_database_value_ignored":true,';

/** A running server for some cases. */
interface Server {
  readonly app: TestApp;
  readonly stop: () => Promise<void>;
}

interface FileComparison extends MemberComparison {
  readonly file: string;
}

async function replayCases(
  file: string,
  cases: readonly RecordedCase[],
  replay: ReturnType<typeof createReplay>,
): Promise<readonly FileComparison[]> {
  const compared: FileComparison[] = [];
  for (const [index, recorded] of cases.entries()) {
    if (typeof recorded.wait_before_s === 'number') await sleep(Math.min(recorded.wait_before_s, 1) * 1_000);
    // `fetch` refuses a GET with a body.
    const answer = await replay.send(recorded.method === 'GET' ? { ...recorded, body: null } : recorded);
    const ours = { ...answer, text: answer.text.replace(ADDED_MEMBER, '') };
    if (isCompared(recorded)) compared.push({ ...compareMembers(index, recorded, ours), file });
  }
  return compared;
}

/** Settings of the file and the database, in three starts on one database. */
async function replayOwnedSettings(hosts: Hosts): Promise<readonly FileComparison[]> {
  const withAddresses = JSON.stringify(recordedCases('config_owned'))
    .replaceAll(RECORDED_MODELS, hosts.models)
    .replaceAll(RECORDED_TARGETS, hosts.targets);
  const all: readonly RecordedCase[] = JSON.parse(withAddresses);
  // A case with `config_text` is a start with this configuration.
  const restarts = all.flatMap((recorded, index) =>
    typeof Reflect.get(recorded, 'config_text') === 'string' ? [index] : [],
  );
  let current: Server | null = null;
  const replay = createReplay(() => current?.app.url ?? '', ADMIN_KEY);
  const compared: FileComparison[] = [];
  let dataDir: string | null = null;
  try {
    for (const [phase, from] of restarts.entries()) {
      const restart = all[from] ?? {};
      const app: TestApp = await startApp({
        config: parse(String(Reflect.get(restart, 'config_text'))) as Record<string, unknown>,
        env: Reflect.get(restart, 'env') as Record<string, string>,
        ...(dataDir === null ? {} : { dataDir }),
      });
      ({ dataDir } = app);
      const isLast = phase === restarts.length - 1;
      current = { app, stop: () => app.stop({ keepData: !isLast }) };
      const cases = all.slice(from + 1, restarts[phase + 1]).filter(({ method }) => method !== 'CONFIG');
      compared.push(...(await replayCases('config_owned', cases, replay)));
      await current.stop();
      current = null;
    }
    return compared;
  } finally {
    await current?.stop();
  }
}

async function replayWithStore(hosts: Hosts): Promise<readonly FileComparison[]> {
  const app = await startApp({ config: recordedConfig('cfg-db', { UP: hosts.models, MASTER: ADMIN_KEY }) });
  try {
    const replay = createReplay(app.url, app.adminKey);
    const cases = recordedCases('models_config');
    const first = cases.findIndex(({ name }) => name === FIRST_SETTING);
    const last = cases.findIndex(({ name }) => name === LAST_SETTING);
    // The first two cases create a user and a key.
    await replayCases('models_config', cases.slice(0, 2), replay);
    const settings = await replayCases('models_config', cases.slice(first, last + 1), replay);
    return [...settings, ...(await replayCases('allowed_ips', recordedCases('allowed_ips'), replay))];
  } finally {
    await app.stop();
  }
}

async function replayWithoutStore(hosts: Hosts): Promise<readonly FileComparison[]> {
  const app = await startApp({
    config: recordedConfig('cfg-default', { UP: hosts.models, MASTER: ADMIN_KEY }),
    env: { STORE_MODEL_IN_DB: 'False' },
  });
  try {
    return await replayCases(
      'config_without_store',
      recordedCases('config_without_store'),
      createReplay(app.url, app.adminKey),
    );
  } finally {
    await app.stop();
  }
}

const keyOf = ({ file, name }: FileComparison): string => `${file}: ${name}`;
/** `status` and `shape` are null when they are equal to the recorded ones. */
const isDifferent = ({ status, shape }: MemberComparison): boolean => status !== null || shape !== null;

const isChosen = (comparison: FileComparison): boolean => CHOSEN_CONFIG_DIFFERENCES.has(keyOf(comparison));

describe.skipIf(!hasRecordings)('the recorded answers of the reference: settings', () => {
  let all: readonly FileComparison[] = [];
  const compared = (): readonly FileComparison[] => all.filter((comparison) => !isChosen(comparison));
  beforeAll(async () => {
    const models = await startRecordedUpstream();
    const targets = await startRecordedUpstream('decisions');
    const hosts = { models: new URL(models.base).host, targets: new URL(targets.base).host };
    try {
      all = [
        ...(await replayOwnedSettings(hosts)),
        ...(await replayWithStore(hosts)),
        ...(await replayWithoutStore(hosts)),
      ];
    } finally {
      await models.stop();
      await targets.stop();
    }
  });
  afterAll(() => {
    if (process.env['LENSGATE_PARITY_REPORT'] !== undefined) console.log(report(compared()));
  });

  it('have the same status in at least 95 of 100 cases', () => {
    expect(compared().length).toBeGreaterThan(150);
    const alike = compared().filter(({ status }) => status === null);
    expect(alike.length / compared().length).toBeGreaterThanOrEqual(0.95);
  });

  it('have the same shape in at least 90 of 100 cases', () => {
    const alike = compared().filter((comparison) => !isDifferent(comparison));
    expect(alike.length / compared().length).toBeGreaterThanOrEqual(0.9);
  });

  it('differ in every case that is listed as a chosen difference', () => {
    const listed = all.filter(isChosen);
    expect(listed.length).toBe(CHOSEN_CONFIG_DIFFERENCES.size);
    expect(listed.filter((comparison) => !isDifferent(comparison)).map(keyOf)).toEqual([]);
  });
});

function report(compared: readonly FileComparison[]): string {
  const differing = compared.filter(isDifferent);
  const lines = differing.map(
    ({ file, index, name, status, shape, text }) =>
      `${file} #${index} ${name}: ${status ?? ''} ${shape ?? ''}\n    ${text.slice(0, 240)}`,
  );
  const statuses = compared.filter(({ status }) => status === null).length;
  return [...lines, `statuses ${statuses}, shapes ${compared.length - differing.length} of ${compared.length}`].join(
    '\n',
  );
}
