import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import {
  createReplay,
  hasRecordings,
  hasRecordedAnswer,
  type RecordedCase,
  recordedCases,
  type ReplayedAnswer,
  shapeOf,
  startRecordedUpstream,
} from './recordings.ts';

if (!hasRecordings)
  console.warn('SKIPPED: the recorded answers of the reference (../shared/data/reference) are not here.');

/** Addresses of the upstreams in the recording: of models, and of pass-through targets. */
const RECORDED_MODELS = '127.0.0.1:9912';
const RECORDED_TARGETS = '127.0.0.1:9913';

/** The environment variables of the recording, with the address of the targets. */
const variablesOf = (base: string): Record<string, string> => ({
  CURSOR_API_BASE: base,
  TYPESAFE_API_BASE: `${base}/ts`,
  TYPESAFE_API_KEY: 'ts-key',
  LAYA_API_BASE: `${base}/laya`,
  BESPOKE_API_BASE: `${base}/bespoke`,
  BESPOKE_API_KEY: 'bk',
  OPENROUTER_API_BASE: `${base}/api/v1`,
  OPENROUTER_API_KEY: 'or-key',
  ANTHROPIC_API_BASE: base,
  ANTHROPIC_API_KEY: 'an-key',
  OPENAI_API_BASE: `${base}/`,
  OPENAI_API_KEY: 'oa-key',
  GEMINI_API_BASE: `${base}/gem`,
  GEMINI_API_KEY: 'gm-key',
  COHERE_API_BASE: `${base}/coh`,
  COHERE_API_KEY: 'co-key',
  MISTRAL_API_BASE: `${base}/mis`,
  MISTRAL_API_KEY: 'mi-key',
  AZURE_API_BASE: `${base}/az`,
  AZURE_API_KEY: 'az-key',
  GIGACHAT_API_BASE: `${base}/giga`,
});

/** Cases that the reference answers with a 500 about a provider's prefix or a slow upstream. */
const isNotWorthCopying = ({ status, name }: RecordedCase): boolean =>
  status === 500 && (name.startsWith('prefix') || name === 'slow timeout');

const isCompared = (recorded: RecordedCase): boolean =>
  hasRecordedAnswer(recorded) && recorded.method !== 'CONFIG' && !isNotWorthCopying(recorded);

/** Answers that differ on purpose. `docs/differences.md` has the reasons. */
const CHOSEN_DIFFERENCES: ReadonlySet<string> = new Set([
  // Users have more members here.
  'setup user',
  'setup viewer',
  // The echo shows that no body is added.
  'plain DELETE',
  'plain empty body',
  'plain text',
  // A path with an unknown guardrail refuses its calls.
  'use guardrails',
  // The document has the reasons of these cases.
  'budget 3',
  'budget 4 later',
  'use native path',
  'cursor bare',
  'prefix anthropic models',
  'prefix bedrock',
  'prefix gemini bearer',
  'prefix laya custom_body',
  'prefix laya bad model',
]);

interface Comparison {
  readonly index: number;
  readonly name: string;
  /** Difference of the status; null when it is equal. */
  readonly status: string | null;
  /** Difference of the shape; null when it is equal. */
  readonly shape: string | null;
  readonly text: string;
}

function comparisonOf(index: number, recorded: RecordedCase, { status, text }: ReplayedAnswer): Comparison {
  const [expected, actual] = [new Set(shapeOf(recorded.response_body)), new Set(shapeOf(text))];
  const missing = [...expected.difference(actual)];
  const added = [...actual.difference(expected)];
  return {
    index,
    name: recorded.name,
    status: status === recorded.status ? null : `${recorded.status} -> ${status}`,
    shape: missing.length + added.length === 0 ? null : `missing ${missing.join(' ')} added ${added.join(' ')}`,
    text,
  };
}

async function replayAndCompare(hosts: {
  readonly models: string;
  readonly targets: string;
}): Promise<readonly Comparison[]> {
  const withAddresses = (text: string): string =>
    text.replaceAll(RECORDED_MODELS, hosts.models).replaceAll(RECORDED_TARGETS, hosts.targets);
  const cases = (
    JSON.parse(withAddresses(JSON.stringify(recordedCases('passthrough')))) as readonly RecordedCase[]
  ).map((recorded, index) => ({ recorded, index }));
  // The first case is the start, with the configuration.
  const config = parse(String(Reflect.get(cases[0]?.recorded ?? {}, 'config_text'))) as Record<string, unknown>;
  const env = variablesOf(`http://${hosts.targets}`);
  const start = (more: Record<string, string>, dataDir?: string): Promise<TestApp> =>
    startApp({ config, env: { ...env, ...more }, ...(dataDir === undefined ? {} : { dataDir }) });
  let app = await start({ CURSOR_API_KEY: 'cur-key' });
  let replay = createReplay(app.url, app.adminKey);
  let hasCursorKey = true;
  const comparisons: Comparison[] = [];
  try {
    for (const { recorded, index } of cases) {
      // From the first case `nokey …` on, the recording has no key of the provider of coding agents.
      if (hasCursorKey && recorded.name.startsWith('nokey')) {
        hasCursorKey = false;
        await app.stop({ keepData: true });
        app = await start({}, app.dataDir);
        replay = createReplay(app.url, app.adminKey);
      }
      if (recorded.method === 'CONFIG') continue;
      if (typeof recorded.wait_before_s === 'number') await sleep(Math.min(recorded.wait_before_s, 1) * 1_000);
      const answer = await replay.send(recorded);
      if (isCompared(recorded)) comparisons.push(comparisonOf(index, recorded, answer));
    }
    return comparisons;
  } finally {
    await app.stop();
  }
}

describe.skipIf(!hasRecordings)('the recorded answers of the reference: pass-through', () => {
  let all: readonly Comparison[] = [];
  beforeAll(async () => {
    const models = await startRecordedUpstream();
    const targets = await startRecordedUpstream('decisions');
    try {
      all = await replayAndCompare({ models: new URL(models.base).host, targets: new URL(targets.base).host });
    } finally {
      await models.stop();
      await targets.stop();
    }
  });
  afterAll(() => {
    if (process.env['LENSGATE_PARITY_REPORT'] !== undefined) console.log(report(all));
  });

  it('have the same status in at least 95 of 100 cases', () => {
    expect(all.length).toBeGreaterThan(140);
    expect(all.filter(({ status }) => status === null).length / all.length).toBeGreaterThanOrEqual(0.95);
  });

  it('have the same shape in at least 90 of 100 cases', () => {
    const alike = all.filter(({ status, shape }) => status === null && shape === null);
    expect(alike.length / all.length).toBeGreaterThanOrEqual(0.9);
  });

  it('differ in exactly the chosen cases', () => {
    const different = all.filter(({ status, shape }) => status !== null || shape !== null);
    expect(new Set(different.map(({ name }) => name))).toEqual(CHOSEN_DIFFERENCES);
  });
});

function report(compared: readonly Comparison[]): string {
  const differing = compared.filter(({ status, shape }) => status !== null || shape !== null);
  const lines = differing.map(
    ({ index, name, status, shape, text }) =>
      `#${index} ${name}: ${status ?? ''} ${shape ?? ''}\n    ${text.slice(0, 240)}`,
  );
  const statuses = compared.filter(({ status }) => status === null).length;
  return [...lines, `statuses ${statuses}, shapes ${compared.length - differing.length} of ${compared.length}`].join(
    '\n',
  );
}
