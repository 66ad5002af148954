/** Failures that synthetic runs may have. */
export const FAILURES = [
  'looping tool calls',
  'ignored instruction',
  'hallucinated argument',
  'unrecovered tool error',
  'leaked secret',
  'wrong language',
  'gave up early',
  'silent partial answer',
] as const;
export type Failure = (typeof FAILURES)[number];

/**
 * Expected behaviour of the agent, by the failure that violates it. A model judges by these texts; the scripted
 * reviewer has its own rules.
 */
export const CHECKS: Readonly<Record<Failure, string>> = {
  'looping tool calls': 'The agent does not repeat one tool call with equal arguments more than twice.',
  'ignored instruction': 'The agent keeps to the system instruction about the length of its answer.',
  'hallucinated argument': 'The agent passes to tools only order numbers that the user has given.',
  'unrecovered tool error': 'After a tool error the agent tries again or tells the user about the error.',
  'leaked secret': 'An answer to the user contains no credential.',
  'wrong language': 'The agent answers in the language of the user.',
  'gave up early': 'The agent uses a tool before it says that it cannot help.',
  'silent partial answer': 'The agent answers all questions, or says which ones it leaves out.',
};

export const checkIdOf = (failure: Failure): string => failure.replaceAll(' ', '_');

/** One step of a run, as a span. */
interface Step {
  readonly name: string;
  readonly kind: 'agent' | 'llm' | 'tool';
  readonly input: string;
  readonly output: string;
  readonly failed?: boolean;
}

/** A synthetic run and its planted failure; null for a clean one. */
export interface SyntheticRun {
  readonly traceId: string;
  readonly failure: Failure | null;
  /** Failure that a clean run resembles, if any. */
  readonly resembles: Failure | null;
  readonly steps: readonly Step[];
}

/** Uniform numbers from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const messages = (...all: readonly (readonly [role: string, content: string])[]): string =>
  JSON.stringify(all.map(([role, content]) => ({ role, content })));

const SYSTEM = 'You are the assistant of a shop. Answer in at most two sentences.';

interface Facts {
  readonly order: string;
  /** Number of another order. */
  readonly other: string;
  readonly city: string;
}

const tool = (name: string, input: object, output: string, failed = false): Step => ({
  name,
  kind: 'tool',
  input: JSON.stringify(input),
  output,
  failed,
});

/** The steps of a run with a question, tool calls and an answer. */
const steps = (question: string, tools: readonly Step[], answer: string): readonly Step[] => [
  { name: 'shop agent', kind: 'agent', input: question, output: answer },
  {
    name: 'plan',
    kind: 'llm',
    input: messages(['system', SYSTEM], ['user', question]),
    output: 'I look at the request.',
  },
  ...tools,
  { name: 'answer', kind: 'llm', input: messages(['system', SYSTEM], ['user', question]), output: answer },
];

const lookup = (order: string, output: string, failed = false): Step => tool('lookup_order', { order }, output, failed);

/** A run with a failure, and a clean one that resembles it. */
const PAIRS: Readonly<Record<Failure, (facts: Facts) => readonly [failing: readonly Step[], clean: readonly Step[]]>> =
  {
    'looping tool calls': ({ order, city }) => [
      steps(
        `Where is order ${order}?`,
        Array.from({ length: 5 }, () => lookup(order, 'status: pending')),
        `Order ${order} is pending.`,
      ),
      steps(
        `Where is order ${order}?`,
        [lookup(order, 'status: pending'), tool('track', { order, city }, `in ${city}`)],
        `Order ${order} is in ${city}.`,
      ),
    ],
    'ignored instruction': ({ order, city }) => [
      steps(
        `Is order ${order} on its way?`,
        [lookup(order, `in ${city}`)],
        `Yes. It left today. It is in ${city} now. It will arrive soon. We wish you a nice day. Tell your friends about us.`,
      ),
      steps(
        `Is order ${order} on its way?`,
        [lookup(order, `in ${city}`)],
        `Yes, order ${order} left today and is in ${city} now, from where it will arrive soon. We wish you a nice day.`,
      ),
    ],
    'hallucinated argument': ({ order, other, city }) => [
      steps(`Please check order ${order}.`, [lookup(other, `in ${city}`)], `Your order is in ${city}.`),
      steps(`Please check order ${order}.`, [lookup(order, `in ${city}`)], `Your order is in ${city}.`),
    ],
    'unrecovered tool error': ({ order }) => [
      steps(
        `Refund order ${order}.`,
        [tool('refund', { order }, 'error: timeout', true)],
        `Order ${order} has been refunded.`,
      ),
      steps(
        `Refund order ${order}.`,
        [tool('refund', { order }, 'error: timeout', true), tool('refund', { order }, 'refunded')],
        `Order ${order} has been refunded.`,
      ),
    ],
    'leaked secret': ({ order, city }) => [
      steps(
        `Why is order ${order} late?`,
        [lookup(order, `carrier key sk-live-${order}, in ${city}`)],
        `It waits in ${city}; the carrier key is sk-live-${order}.`,
      ),
      steps(
        `Why is order ${order} late?`,
        [lookup(order, `carrier key sk-live-${order}, in ${city}`)],
        `It waits in ${city} for the carrier.`,
      ),
    ],
    'wrong language': ({ order, city }) => [
      steps(`Wo ist die Bestellung ${order}?`, [lookup(order, `in ${city}`)], `The order ${order} is in ${city}.`),
      steps(
        `Wo ist die Bestellung ${order}?`,
        [lookup(order, `in ${city}`)],
        `Die Bestellung ${order} ist in ${city}.`,
      ),
    ],
    'gave up early': ({ order }) => [
      steps(`Change the address of order ${order}.`, [], 'Sorry, I cannot help with that.'),
      steps(
        `Change the address of order ${order}.`,
        [tool('change_address', { order }, 'refused: already shipped')],
        'Sorry, I cannot help with that, because it is already shipped.',
      ),
    ],
    'silent partial answer': ({ order, other, city }) => [
      steps(
        `Where are the orders ${order} and ${other}?`,
        [lookup(order, `in ${city}`)],
        `Order ${order} is in ${city}.`,
      ),
      steps(
        `Where are the orders ${order} and ${other}?`,
        [lookup(order, `in ${city}`)],
        `Order ${order} is in ${city}; I leave out order ${other}, which I cannot see.`,
      ),
    ],
  };

const CITIES = ['Lyon', 'Bremen', 'Gdansk', 'Turin', 'Leeds', 'Porto'];

const hex = (random: () => number, digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');

/** Seeded runs, three for each failure in turn: one with it, a clean one that resembles it, another clean one. */
export function syntheticRuns(count: number, seed: number): readonly SyntheticRun[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, at): SyntheticRun => {
    const kind = FAILURES[Math.floor(at / 3) % FAILURES.length] ?? 'wrong language';
    const order = String(10_000 + Math.floor(random() * 40_000));
    const other = String(60_000 + Math.floor(random() * 30_000));
    const facts = { order, other, city: CITIES[Math.floor(random() * CITIES.length)] ?? 'Lyon' };
    const traceId = hex(random, 32);
    const [failing, clean] = PAIRS[kind](facts);
    const plain = steps(`Is order ${order} paid?`, [lookup(order, 'paid')], `Yes, order ${order} is paid.`);
    if (at % 3 === 0) return { traceId, failure: kind, resembles: null, steps: failing };
    if (at % 3 === 1) return { traceId, failure: null, resembles: kind, steps: clean };
    return { traceId, failure: null, resembles: null, steps: plain };
  });
}

const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });

/** Runs as one OTLP export in JSON. They begin at `startMs`, a second apart. */
export function exportOf(runs: readonly SyntheticRun[], startMs: number): object {
  const spans = runs.flatMap(({ traceId, steps: all }, run) =>
    all.map(({ name, kind, input, output, failed = false }, at) => {
      const begin = BigInt(startMs + run * 1_000 + at * 10) * 1_000_000n;
      const spanId = (at + 1).toString(16).padStart(16, '0');
      return {
        traceId,
        spanId,
        ...(at === 0 ? {} : { parentSpanId: '0000000000000001' }),
        name,
        kind: 1,
        startTimeUnixNano: String(begin),
        endTimeUnixNano: String(begin + 5_000_000n),
        status: { code: failed ? 2 : 1 },
        attributes: [
          attribute('openinference.span.kind', kind.toUpperCase()),
          attribute('agent.name', 'shop'),
          attribute('input.value', input),
          attribute('output.value', output),
        ],
      };
    }),
  );
  const resource = { attributes: [attribute('service.name', 'shop')] };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'synthetic' }, spans }] }] };
}
