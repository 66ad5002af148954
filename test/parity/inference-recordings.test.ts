import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../support/start-app.ts';
import { compare, type CaseComparison, countEqual, neverDifferent, report, unexplained } from './comparison.ts';
import {
  createReplay,
  hasRecordings,
  hasRecordedAnswer,
  type RecordedCase,
  recordedCases,
  startRecordedUpstream,
} from './recordings.ts';

if (!hasRecordings)
  console.warn('SKIPPED: the recorded answers of the reference (../shared/data/reference) are not here.');

const FILES = ['inference', 'retries', 'cooldowns'] as const;

/** Cases of other subjects. They are sent, because later cases need what they create. */
const OTHER_SUBJECTS = /^\/(key|user|team|model\/new|fallback|lens|v1\/decisions)\b/;
/** Cases of the HTTP edge: methods and redirects that no route row declares. */
const isOfTheEdge = ({ method, path }: RecordedCase): boolean =>
  method === 'OPTIONS' || method === 'HEAD' || path.endsWith('/');
/** The reference selects one of two deployments at random. */
const isChance = ({ name }: RecordedCase): boolean => name.startsWith('two deployments, one dead');

const isCompared = (recorded: RecordedCase): boolean =>
  hasRecordedAnswer(recorded) && !OTHER_SUBJECTS.test(recorded.path) && !isOfTheEdge(recorded) && !isChance(recorded);

/** Models that the recorded cases add at run time. Here they are configured. */
const ADDED_MODELS = [400, 401, 403, 404, 408, 409, 422, 429, 500, 503].flatMap((status) => [
  `rt-${status}`,
  `cd-${status}`,
]);

const configAt = (base: string, file: string) => {
  const model = (name: string, upstream: string, more: object = {}) => ({
    model_name: name,
    litellm_params: { model: upstream, api_base: base, api_key: 'k', ...more },
    // Recorded errors name these deployments by their ids.
    ...(name.startsWith('cd-4') ? { model_info: { id: `${name}-id` } } : {}),
  });
  const dead = { api_base: 'http://127.0.0.1:1/v1' };
  return {
    // Models that the cases add are configured below.
    general_settings: { store_model_in_db: false },
    router_settings: {
      // The same settings as in the recordings.
      ...(file === 'retries' ? {} : { num_retries: 0 }),
      ...(file === 'inference' ? { disable_cooldowns: true } : {}),
      // The recorded cases set this at run time.
      ...(file === 'retries' ? { fallbacks: [{ dead: ['oa'] }] } : {}),
    },
    model_list: [
      model('oa', 'openai/tiny-1'),
      model('gpt-4o', 'openai/gpt-4o'),
      model('slow', 'openai/tiny-1', { timeout: 1 }),
      model('emb', 'openai/text-embedding-3-small'),
      ...ADDED_MODELS.map((name) => model(name, 'openai/tiny-1')),
      model('dead', 'openai/x', dead),
      model('cd-two', 'openai/tiny-1', dead),
      model('cd-two', 'openai/tiny-1'),
    ],
  };
};

/**
 * The case of a timeout of 1 s, with an answer after 60 s in place of 2.5 s. A process that was blocked for 1.5 s may
 * read an answer that has arrived before it checks the deadline.
 */
const withLateAnswer = (recorded: RecordedCase): RecordedCase =>
  recorded.name === 'upstream timeout'
    ? { ...recorded, body: JSON.parse(JSON.stringify(recorded.body).replace('sleep:2500', 'sleep:60000')) as unknown }
    : recorded;

/** Replays `setup` in order, and then the lists of `later` side by side, each in order, with an app of their own. */
async function replayAndCompare(
  file: string,
  setup: readonly RecordedCase[],
  later: readonly (readonly RecordedCase[])[] = [],
): Promise<readonly CaseComparison[]> {
  const upstream = await startRecordedUpstream();
  const app = await startApp({ config: configAt(upstream.base, file) });
  try {
    const replay = createReplay(app.url, app.adminKey);
    const compared: CaseComparison[] = [];
    const replayInOrder = async (cases: readonly RecordedCase[]): Promise<void> => {
      for (const recorded of cases) {
        if (typeof recorded.wait_before_s === 'number') await setTimeout(recorded.wait_before_s * 1000);
        // The recorded cases create a user to get a key. Here the key is generated directly.
        const answer = await replay.send(
          recorded.path === '/user/new' ? { ...recorded, path: '/key/generate' } : withLateAnswer(recorded),
        );
        if (isCompared(recorded)) compared.push(compare(`${file}: ${recorded.name}`, recorded, answer));
      }
    };
    await replayInOrder(setup);
    await Promise.all(later.map(replayInOrder));
    return compared;
  } finally {
    await app.stop();
    await upstream.stop();
  }
}

/**
 * Replays the cases of default retries apart from the others of their file, and side by side by status. They take most
 * of the time, and those of one status have models of their own.
 */
function replayRetries(): readonly Promise<readonly CaseComparison[]>[] {
  const cases = recordedCases('retries');
  const ofDefaults = cases.filter(({ name }) => name.startsWith('default retries: '));
  const byStatus = Map.groupBy(ofDefaults, ({ name }) => /\b\d{3}\b/.exec(name)?.[0]);
  const setup = cases.slice(
    0,
    cases.findIndex((recorded) => ofDefaults.includes(recorded)),
  );
  return [
    replayAndCompare('retries', setup, [...byStatus.values()]),
    replayAndCompare(
      'retries',
      cases.filter((recorded) => !ofDefaults.includes(recorded)),
    ),
  ];
}

describe.skipIf(!hasRecordings)('the recorded answers of the reference: inference', () => {
  let all: readonly CaseComparison[] = [];
  beforeAll(async () => {
    // Most of the time is spent in retries and in the waits of the recordings.
    const replays = FILES.flatMap((file) =>
      file === 'retries' ? replayRetries() : [replayAndCompare(file, recordedCases(file))],
    );
    all = (await Promise.all(replays)).flat();
    if (process.env['LENSGATE_PARITY_REPORT'] !== undefined) console.log(report(all));
  });

  it('have the same status and the same shape, except for the chosen differences', () => {
    expect(unexplained(all)).toEqual([]);
  });

  it('differ in every case that is listed as a chosen difference', () => {
    expect(neverDifferent(all, FILES)).toEqual([]);
  });

  it('are compared, and nearly all are equal', () => {
    const { cases, statuses, shapes } = countEqual(all);
    expect(cases).toBeGreaterThan(135);
    expect(statuses / cases).toBeGreaterThanOrEqual(0.95);
    expect(shapes / cases).toBeGreaterThanOrEqual(0.9);
  });
});
