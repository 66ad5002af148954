const questions = [
  { type: 'predicate', name: 'ok', instructions: 'is it fine?' },
  {
    type: 'choice',
    name: 'team',
    instructions: 'who?',
    choices: [{ value: true }, { value: 'ops', description: 'o' }],
  },
  { type: 'score', name: 'anger', instructions: 'how?', levels: [{ label: 'none' }, { label: 'lots' }] },
];
/** `questions` in the named-map format. `noul` is the wire name of a yes-or-no question, and of its probability. */
export const questionsByName = {
  ok: { type: 'noul', instructions: 'is it fine?' },
  team: { type: 'choice', instructions: 'who?', criteria: { true: null, ops: 'o' } },
  anger: { type: 'score', instructions: 'how?', criteria: ['none', 'lots'] },
};
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 107,
};
const answers = [
  { type: 'predicate', name: 'ok', probability: 0.91 },
  {
    type: 'choice',
    name: 'team',
    choice: true,
    probabilities: [
      { value: true, probability: 0.8 },
      { value: 'ops', probability: 0.2 },
    ],
    confidence: 0.6,
  },
  {
    type: 'score',
    name: 'anger',
    score: 0.25,
    probabilities: [
      { value: 0, label: 'none', probability: 0.75 },
      { value: 1, label: 'lots', probability: 0.25 },
    ],
    confidence: 0.5,
  },
];
const answersByName = {
  ok: { type: 'noul', noul: 0.91 },
  team: { type: 'choice', choice: 'true', confidence: 0.6, probabilities: { true: 0.8, ops: 0.2 } },
  anger: {
    type: 'score',
    score: 0.25,
    confidence: 0.5,
    legend: { 0: 'none', 1: 'lots' },
    probabilities: { 0: 0.75, 1: 0.25 },
  },
};
/** Upstream answer in the standard format. */
export const STANDARD_ANSWER = { model: 'up', answers, usage };
/** Upstream answer in the named-map format: a map of answers by question. */
export const NAMED_ANSWER = {
  model: 'up',
  answers: answersByName,
  usage: { input_tokens: 100, output_tokens: 7, cached_tokens: 40, cache_write_tokens: 10 },
};
/**
 * Cost in USD: 50 input tokens at 0.001, 40 cache reads at 0.0001, 10 cache writes at 0.002, 7 output tokens at 0.01.
 */
export const COST = '0.144';

/** Each decision route: its requests, and its answers for upstreams of the standard and of the named-map format. */
export const ROWS = [
  {
    row: 'decisions.create',
    paths: ['/v1/decisions', '/decisions'],
    body: (model: string) => ({ model, input: 'a ticket', questions }),
    tooMany: { model: 'standard', input: 'x', questions: [...questions, questions[0]] },
    standardBody: { model: 'up', answers, usage },
    namedBody: {
      model: 'up',
      answers,
      usage: { ...usage, output_tokens_details: { reasoning_tokens: 0 } },
    },
    callType: 'adecisions',
    routeInErrors: '/decisions',
  },
  {
    row: 'decisions.systemOne',
    paths: ['/v1/systemone', '/systemone', '/v1/alt-decisions', '/alt-decisions'],
    body: (model: string) => ({ model, state: 'a ticket', questions: questionsByName }),
    tooMany: { model: 'standard', state: 'x', questions: { ...questionsByName, more: questionsByName.ok } },
    standardBody: { model: 'up', answers: answersByName, usage: { input_tokens: 100, output_tokens: 7 } },
    namedBody: { model: 'up', answers: answersByName, usage: { input_tokens: 100, output_tokens: 7 } },
    callType: 'asystemone',
    routeInErrors: '/systemone',
  },
] as const;
