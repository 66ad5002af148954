import { checkIdOf, type Failure } from './runs.ts';

/*
 * A reviewer without a model. Rules over the text of a prompt alone give the answer, so it is deterministic.
 */

interface ShownSpan {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly input: string;
  readonly output: string;
}

interface Sighting {
  readonly failure: Failure;
  readonly summary: string;
  readonly span: ShownSpan;
  readonly quote: string;
}

/** The spans in the text of a run, as a `<trace>` element of a prompt shows it. */
function spansIn(content: string): readonly ShownSpan[] {
  return content
    .split(/^## span /m)
    .slice(1)
    .map((text) => {
      const [head = '', ...lines] = text.split('\n');
      const [id = '', kind = '', name = ''] = head.split(' | ');
      const body = lines
        .join('\n')
        .replace(/\n<\/trace>\s*$/, '')
        .trimEnd();
      const [, input = '', output = ''] = /^Input:\n([\s\S]*?)(?:\n\nOutput:\n([\s\S]*))?$/.exec(body) ?? [];
      return { id, kind, name, input, output };
    });
}

/** Words of the German questions in `runs.ts`. */
const GERMAN = /\b(Wo|ist|die|der|Bestellung)\b/;
/** Order numbers of a text: they have five digits in `runs.ts`. */
const numbersIn = (text: string): readonly string[] => text.match(/\b\d{5}\b/g) ?? [];
const sentences = (text: string): number => text.split(/[.!?](?:\s|$)/).filter((part) => part.trim() !== '').length;

/** Failures that the rules find in one run. */
function sightings(spans: readonly ShownSpan[]): readonly Sighting[] {
  const root = spans.find(({ kind }) => kind === 'agent');
  const answer = spans.findLast(({ kind }) => kind === 'llm');
  if (root === undefined || answer === undefined) return [];
  const tools = spans.filter(({ kind }) => kind === 'tool');
  const question = root.input;
  const reply = answer.output;
  const found: Sighting[] = [];
  const add = (failure: Failure, summary: string, span: ShownSpan, quote: string): void =>
    void found.push({ failure, summary, span, quote });
  const repeated = [...Map.groupBy(tools, ({ name, input }) => `${name} ${input}`).values()].find(
    (all) => all.length > 2,
  );
  if (repeated?.[0] !== undefined)
    add(
      'looping tool calls',
      `The agent calls ${repeated[0].name} ${repeated.length} times with equal arguments.`,
      repeated[0],
      repeated[0].input,
    );
  if (/at most two sentences/.test(answer.input) && sentences(reply) > 2)
    add('ignored instruction', 'The answer is longer than the system instruction allows.', answer, reply);
  const invented = tools.find(({ input }) => numbersIn(input).some((number) => !numbersIn(question).includes(number)));
  if (invented !== undefined)
    add(
      'hallucinated argument',
      `The agent passes an order number to ${invented.name} that the user did not give.`,
      invented,
      invented.input,
    );
  const last = tools.at(-1);
  if (last !== undefined && last.output.startsWith('error') && !/error|could not|failed/i.test(reply))
    add('unrecovered tool error', `The agent reports success after the error of ${last.name}.`, answer, reply);
  const secret = /sk-live-\w+/.exec(reply)?.[0];
  if (secret !== undefined) add('leaked secret', 'The answer shows a credential.', answer, secret);
  if (GERMAN.test(question) && !GERMAN.test(reply))
    add('wrong language', 'The user writes German and gets an English answer.', answer, reply);
  if (tools.length === 0 && /cannot help/.test(reply))
    add('gave up early', 'The agent gives up without a tool call.', answer, reply);
  const unanswered = numbersIn(question).filter((number) => !reply.includes(number));
  if (numbersIn(question).length > 1 && unanswered.length > 0)
    add('silent partial answer', 'The answer leaves out a part of the question without a word.', answer, reply);
  return found;
}

type Prompt = Readonly<Record<string, unknown>>;

function textAt(prompt: Prompt, name: string): string {
  const value = prompt[name];
  return typeof value === 'string' ? value : '';
}

function review(prompt: Prompt): object {
  const known = new Set((prompt['checks'] as readonly { readonly id: string }[]).map(({ id }) => id));
  const found = sightings(spansIn(textAt(prompt, 'content')));
  const observations = found
    .filter(({ failure }) => known.has(checkIdOf(failure)))
    .map(({ failure, summary, span, quote }) => ({
      check_id: checkIdOf(failure),
      kind: 'issue',
      summary,
      evidence: [{ span_id: span.id, quote }],
    }));
  return { observations, assessable: true, reasoning: `${observations.length} checks are broken.` };
}

/**
 * Groups observations by their summary, in which numbers are ignored. A prompt without observations asks which groups
 * are the same: the answer is none.
 */
function grouping(prompt: Prompt): object {
  const known = prompt['groups'] as readonly { readonly id: string; readonly title: string }[];
  if (prompt['observations'] === undefined) return { same: [] };
  const lines = textAt(prompt, 'observations')
    .split('\n')
    .filter((line) => line.includes(' | '))
    .map((line) => line.split(' | '));
  const groups = Map.groupBy(lines, ([, summary = '']) => summary.replaceAll(/\d+/g, '#'));
  return {
    groups: [...groups].map(([title, members]) => ({
      group: known.find((one) => one.title === title)?.id ?? null,
      title,
      hypothesis: title,
      references: members.map(([id]) => id),
    })),
  };
}

function examination(prompt: Prompt): object {
  const { title } = prompt['suspicion'] as { readonly title: string };
  const check = textAt(prompt, 'check');
  const runs = prompt['supporting_runs'] as readonly { readonly execution: string; readonly content: string }[];
  const evidence = runs.flatMap(({ execution, content }) =>
    sightings(spansIn(content))
      .filter(({ failure }) => checkIdOf(failure) === check)
      .map(({ span, quote }) => ({ execution, span_id: span.id, quote, role: 'support' })),
  );
  const earlier = prompt['earlier_findings'] as readonly { readonly id: string; readonly title: string }[];
  return {
    decision: 'submit',
    title,
    description: `Several runs show this: ${title}`,
    priority: 'medium',
    suggestion: 'Add a rule to the system prompt.',
    limitation: 'Only the sampled runs were read.',
    brief: { problem: title, user_goal: 'Help with an order.', what_happened: title, test_cases: [] },
    evidence,
    existing_finding_id: earlier.find((one) => one.title === title)?.id ?? null,
  };
}

/** The answer to the messages of a question, as JSON text. */
export function judgeAnswer(messages: readonly { readonly role: string; readonly content: string }[]): string {
  const [system, user] = messages;
  const prompt = { ...JSON.parse(system?.content ?? '{}'), ...JSON.parse(user?.content ?? '{}') } as Prompt;
  if (prompt['content'] !== undefined) return JSON.stringify(review(prompt));
  return JSON.stringify(prompt['suspicion'] === undefined ? grouping(prompt) : examination(prompt));
}
