// CPU of a call outside its transport, in process: authentication, admission, limits and the spend record. Compares
// calls with the admin key, calls with keys that have limits at every level, and calls of the provider alone. The
// printed table also has the CPU of counting a request in the HTTP server.
//   npm run bench:accounting -- [--keys 10000] [--teams 100] [--calls 20000] [--rounds 7] [--dry] [--redis redis://127.0.0.1:6379]
// With `--redis` it also prints the time that single calls wait for their shares of budgets and limits in Redis. A dry
// run makes few calls to check the script. Its figures are not meaningful.
import { parseArgs } from 'node:util';
import { setImmediate as turn } from 'node:timers/promises';
import { streamOfBytes, collect } from '../src/domain/bytes.ts';
import type { CountedLimits } from '../src/domain/budgets/limits.ts';
import type { CallStore } from '../src/domain/calls/call-record.ts';
import type { Exchange, ModelRequest } from '../src/domain/chat/chat.ts';
import { fixedDeployments } from '../src/domain/deployments/deployment-source.ts';
import { DEFAULT_ROUTING } from '../src/domain/routing/routing-policy.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { type Usd, usdFrom, ZERO_USD } from '../src/domain/money.ts';
import { Secret } from '../src/domain/secret.ts';
import { createGateway } from '../src/gateway/create-gateway.ts';
import { createKeyRing } from '../src/gateway/keys/key-ring.ts';
import { createActivityCounter } from '../src/recording/gateway-activity.ts';
import { createCallRecords } from '../src/recording/call-records.ts';
import { createMemoryAdmission } from '../src/runtime/admission/memory-admission.ts';
import { createMemoryRateLimits } from '../src/runtime/admission/memory-rate-limits.ts';
import { createStoredSpend } from '../src/runtime/admission/stored-spend.ts';
import { loadEmbeddedSnapshot } from '../src/runtime/catalog/snapshot.ts';
import { pause, systemClock } from '../src/runtime/clock.ts';
import { keyGenerator, randomIds } from '../src/runtime/identifiers.ts';
import { aDeployment, aKey, aModelRequest } from '../test/support/chat.ts';
import { median } from './measure.ts';
import { measureShares } from './shares.ts';
import { table } from './report.ts';
import { createScheduler } from '../src/runtime/tasks/scheduler.ts';

const { values: options } = parseArgs({
  options: {
    keys: { type: 'string', default: '10000' },
    teams: { type: 'string', default: '100' },
    calls: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '7' },
    dry: { type: 'boolean', default: false },
    redis: { type: 'string' },
  },
});
const KEYS = options.dry ? 100 : Number(options.keys);
const TEAMS = options.dry ? 10 : Number(options.teams);
const CALLS = options.dry ? 200 : Number(options.calls);
const ROUNDS = options.dry ? 1 : Number(options.rounds);
/** Calls of each row of the table that `--redis` adds. */
const REDIS_CALLS = options.dry ? 100 : 2_000;
/** Calls in one turn of the event loop, as in the busiest turns of the product. */
const CALLS_A_TURN = 64;
/** Limits that no call reaches. */
const MANY = 1_000_000_000;
const RICH: Usd = usdFrom('1000000') ?? ZERO_USD;
/** Refresh interval of keys in use, in ms, as in the product. */
const REFRESH_MS = 1_500;

const LIMITS: CountedLimits = {
  spentBefore: null,
  maxBudget: RICH,
  softBudget: null,
  budgetDuration: null,
  budgetResetAt: null,
  rpmLimit: MANY,
  tpmLimit: MANY,
  tpdLimit: null,
  maxParallelRequests: MANY,
};

const secretOf = (number: number): string => `sk-bench-${String(number).padStart(40, '0')}`;

/** A key with a budget and limits of its own and of each of its owners. */
function limitedKey(number: number): VirtualKey {
  const team = `team-${number % TEAMS}`;
  const user = `user-${number}`;
  const spentBefore = ZERO_USD;
  const createdAt = new Date(0);
  return aKey({
    hash: keyGenerator.hash(secretOf(number)),
    alias: `key-${number}`,
    teamId: team,
    userId: user,
    maxBudget: RICH,
    settings: { rpmLimit: MANY, tpmLimit: MANY, maxParallelRequests: MANY, projectId: `project-${number % TEAMS}` },
    metadata: { model_rpm_limit: { m: MANY }, model_tpm_limit: { m: MANY } },
    owners: {
      budget: null,
      user: { id: user, createdAt, role: null, models: [], limits: LIMITS, spentBefore },
      team: {
        id: team,
        createdAt,
        blocked: false,
        models: [],
        modelAliases: {},
        metadata: {},
        limits: LIMITS,
        spentBefore,
      },
      member: { role: 'user', models: [], limits: LIMITS, hasOwnLimits: true },
      organization: { id: `organization-${number % 10}`, models: [], limits: LIMITS },
      project: { id: `project-${number % TEAMS}`, blocked: false, models: [], tags: [], metadata: {}, limits: LIMITS },
    },
  });
}

const secrets = Array.from({ length: KEYS }, (_, number) => secretOf(number));
const stored = new Map(secrets.map((_, number) => limitedKey(number)).map((key) => [key.secretHash, key]));
/** Copies the row at each read, as a database does. */
const read = (secretHash: string): VirtualKey | null => {
  const key = stored.get(secretHash);
  return key === undefined ? null : { ...key };
};
const adminKey = `sk-${'m'.repeat(40)}`;
const ring = createKeyRing({
  masterKey: new Secret(adminKey),
  store: {
    find: (secretHash) => Promise.resolve(read(secretHash)),
    findBySecrets: (hashes) =>
      Promise.resolve(
        new Map(
          hashes.flatMap((hash) => {
            const key = read(hash);
            return key === null ? [] : [[hash, key]];
          }),
        ),
      ),
  },
  generator: keyGenerator,
  clock: systemClock,
  failures: { admit() {}, count() {} },
  pause,
});

const usage = { inputTokens: 42, outputTokens: 150, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const outcome = {
  responseId: 'chatcmpl-bench',
  responseModel: 'up-1',
  finishReason: 'stop',
  usage,
  failure: null,
  text: null,
};
const ANSWER = Buffer.from(JSON.stringify({ id: outcome.responseId, usage }));
const answer = (): Exchange => ({
  status: 200,
  headers: {},
  streaming: false,
  bytes: streamOfBytes(ANSWER),
  deltas: () => {
    throw new TypeError('Deltas are not read here.');
  },
  outcome: () => outcome,
});
const provider = { name: 'openai', send: (): Promise<Exchange> => Promise.resolve(answer()) };
const deployment = aDeployment({ priceOverrides: { input_cost_per_token: 1e-6, output_cost_per_token: 4e-6 } });

/** Accepts records in place of the database store, without encoding and storing them. */
const memoryStore: CallStore = {
  encode: ({ spend: { callId, traceId } }) => ({ callId, traceId }),
  append: () => Promise.resolve(() => Promise.resolve([])),
  backlog: () => 0,
  unfold: () => Promise.resolve([]),
};
const warn = (facts: unknown, event: string): void => console.error(event, facts);
const records = createCallRecords({
  stores: [memoryStore],
  hasSubscribers: () => false,
  changed: () => Promise.resolve(),
  log: { warn, error: warn, info: warn, debug: warn },
});
const catalog = loadEmbeddedSnapshot();
const gateway = createGateway({
  deployments: fixedDeployments([deployment]),
  providers: [provider],
  forwarder: { forward: () => Promise.reject(new TypeError('Nothing is forwarded here.')) },
  catalog: { current: () => catalog },
  recorder: records,
  admission: createMemoryAdmission({
    totals: createStoredSpend(
      { totalsOf: () => Promise.resolve(new Map()), totalsOfOwners: () => Promise.resolve(new Map()) },
      records,
    ),
    clock: systemClock,
    failed: (error) => warn(error, 'totals were not read'),
  }),
  rateLimits: createMemoryRateLimits({ clock: systemClock }),
  clock: systemClock,
  ids: randomIds,
  pause,
  capturePrompts: false,
  alwaysStreamUsage: false,
  budgetErrorKind: 'unprocessable',
  clientCredentials: false,
  reportsTries: false,
  checksFallbackBudgets: false,
  routing: () => DEFAULT_ROUTING,
  random: Math.random,
});

const LIMIT_BYTES = 1_000_000;
const { signal } = new AbortController();

/** Calls of the provider alone. The other calls include this work. */
async function bareCall(): Promise<void> {
  const { bytes } = await provider.send();
  await collect(bytes, LIMIT_BYTES);
}

async function callWith(secret: string): Promise<void> {
  const request: ModelRequest = aModelRequest();
  const call = await gateway.call(await ring.identify(secret), request, signal);
  await call.consume((bytes) => collect(bytes, LIMIT_BYTES));
}

/** Mean CPU of one run of `work`, in µs, with the flush of its records. */
async function cpuOf(times: number, work: (number: number) => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let from = 0; from < times; from += CALLS_A_TURN) {
    const calls = Array.from({ length: Math.min(CALLS_A_TURN, times - from) }, (_, at) => work(from + at));
    await Promise.all(calls);
    await turn();
  }
  await records.flush();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

const activity = createActivityCounter({
  process: 'bench',
  store: { add: () => Promise.resolve() },
  clock: systemClock,
  everyMs: 15_000,
  onCounts: () => {},
  scheduler: createScheduler({ warn: (facts, event) => warn(facts, event) }),
});

const DONE = Promise.resolve();

/** Counts one request, as the HTTP server does at each answer. */
function countOne(): Promise<void> {
  const route = activity.routeOf('POST', '/v1/chat/completions');
  if (route !== null) activity.count(route, 200);
  return DONE;
}

const trials: readonly { readonly title: string; readonly work: (number: number) => Promise<void> }[] = [
  { title: 'provider only', work: bareCall },
  { title: 'admin key, no limits', work: () => callWith(adminKey) },
  {
    title: `${KEYS} keys of ${TEAMS} teams, limits at every level`,
    work: (number) => callWith(secrets[number % KEYS] ?? adminKey),
  },
  { title: 'count of a request in the HTTP server', work: countOne },
];
const EMPTY = { title: 'empty loop', work: () => DONE };

const refreshing = setInterval(() => void ring.refresh(), REFRESH_MS);
const timings = new Map<string, number[]>();
for (let round = 0; round <= ROUNDS; round += 1)
  for (const { title, work } of [EMPTY, ...trials]) {
    // A key that was idle for some seconds is read from the store first. The figure excludes that read.
    await cpuOf(KEYS, work);
    const cpu = await cpuOf(CALLS, work);
    // The first round compiles the code and reads the keys.
    if (round > 0) timings.set(title, [...(timings.get(title) ?? []), cpu]);
  }
clearInterval(refreshing);

const best = (title: string): number => Math.min(...(timings.get(title) ?? []));
const empty = best(EMPTY.title);
const rows = trials.map(({ title }, position) => {
  // The count, which is last, is compared with the empty loop. Other trials are compared with the provider alone.
  const baseline = title === trials.at(-1)?.title ? empty : best(trials[0]?.title ?? '');
  const own = position === 0 ? '' : (best(title) - baseline).toFixed(2);
  return [title, median(timings.get(title) ?? []).toFixed(2), best(title).toFixed(2), own];
});
console.log(table(['CPU µs each', 'median', 'best', 'best, minus provider only (count: minus empty loop)'], rows));
if (options.redis !== undefined) console.log(await measureShares(options.redis, REDIS_CALLS));
if (options.dry) console.log('Dry run: the figures mean nothing.');
