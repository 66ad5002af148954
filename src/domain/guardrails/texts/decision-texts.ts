import { type Answer, type Decision, type MadeDecision, optionText, type Question } from '../../decisions/decision.ts';
import { createWalk, type Members, type TextPlace, withTexts } from './walk.ts';

/** Members beyond the format that are not texts of the model. */
const SKIPS: ReadonlySet<string> = new Set(['id', 'object']);

/** Texts of one answer, as an editable JSON value. */
interface AnswerTexts extends Members {
  /** Texts of the options of a choice, each once: those of the question, and others of the answer. */
  readonly options: readonly string[];
  /** Labels of the levels of a score. */
  readonly levels: readonly unknown[];
  /** The upstream's own labels of the levels. */
  readonly legend: readonly unknown[];
  /** Members beyond the format. */
  readonly more: Members;
}

/** Texts of a decision, as an editable JSON value: one item for each question, and the members beyond the format. */
interface DecisionView extends Members {
  readonly answers: readonly AnswerTexts[];
  readonly more: Members;
  readonly usageMore: Members;
}

const NO_TEXTS: AnswerTexts = { options: [], levels: [], legend: [], more: {} };

/** Texts that the answer to a choice may contain. A boolean option is not a text. */
function optionsOf(question: Question, answer: Extract<Answer, { kind: 'choice' }>): readonly string[] {
  const options = question.kind === 'choice' ? question.options : [];
  const booleans = new Set(options.filter(({ value }) => typeof value === 'boolean').map(optionText));
  const all = [...options.map(optionText), answer.choice, ...answer.probabilities.keys()];
  return [...new Set(all)].filter((text) => !booleans.has(text));
}

const levelsOf = (question: Question): readonly unknown[] =>
  question.kind === 'score' ? question.levels.map(({ label }) => (typeof label === 'string' ? label : label.json)) : [];

function textsOf(question: Question, answer: Answer | undefined): AnswerTexts {
  if (answer === undefined || answer.kind === 'refusal') return NO_TEXTS;
  const { more } = answer;
  if (answer.kind === 'choice') return { ...NO_TEXTS, options: optionsOf(question, answer), more };
  if (answer.kind !== 'score') return { ...NO_TEXTS, more };
  const legend = [...(answer.legend ?? [])].map(([, label]) => label);
  return { ...NO_TEXTS, levels: levelsOf(question), legend, more };
}

/** The labels of a question, which a stored decision contains even if the question was refused. */
function labelsOf(question: Question): AnswerTexts {
  const options = question.kind === 'choice' ? question.options : [];
  return {
    ...NO_TEXTS,
    options: options.flatMap(({ value }) => (typeof value === 'string' ? [value] : [])),
    levels: levelsOf(question),
  };
}

/** The texts of a decision that its answer contains, in every format, with their places. */
interface DecisionTexts {
  readonly places: readonly TextPlace[];
  /** The decision with edited texts, one for each place. Edited options stay distinct. */
  withTexts(texts: readonly string[]): MadeDecision;
}

/**
 * Finds the texts of the answers. Labels of the questions are read only where an answer repeats them, and with
 * `allLabels` also where the question was refused.
 */
export function decisionTexts(made: MadeDecision, { allLabels = false } = {}): DecisionTexts {
  const { questions, decision } = made;
  const { more, usageMore } = decision;
  const answers = questions.map((question, index) => {
    const answer = decision.answers[index];
    const isRefused = answer === undefined || answer.kind === 'refusal';
    return isRefused && allLabels ? labelsOf(question) : textsOf(question, answer);
  });
  const view: DecisionView = { answers, more, usageMore };
  const walk = createWalk();
  walk.everything(answers, ['answers'], 'assistant');
  walk.everything(more, ['more'], 'assistant', SKIPS);
  walk.everything(usageMore, ['usageMore'], 'assistant');
  return {
    places: walk.places,
    withTexts(texts) {
      const edited: DecisionView = { ...view, ...withTexts(view, walk.places, texts) };
      return edit(made, view, edited);
    },
  };
}

function edit({ questions, decision, ...made }: MadeDecision, view: DecisionView, edited: DecisionView): MadeDecision {
  const editedQuestions: Question[] = [];
  const answers: Answer[] = [];
  for (const [index, question] of questions.entries()) {
    const answer: Answer = decision.answers[index] ?? { kind: 'refusal' };
    const [before = NO_TEXTS, after = NO_TEXTS] = [view.answers[index], edited.answers[index]];
    const options = newOptions(before.options, after.options);
    editedQuestions.push(editedQuestion(question, options, after));
    answers.push(answer.kind === 'refusal' ? answer : editedAnswer(answer, options, after));
  }
  const editedDecision: Decision = { ...decision, answers, more: edited.more, usageMore: edited.usageMore };
  return { ...made, questions: editedQuestions, decision: editedDecision };
}

/**
 * The new text of each option. Probabilities are found by these texts, so that a text that another option has gets a
 * number.
 */
function newOptions(before: readonly string[], after: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(before.filter((text, index) => after[index] === text));
  return new Map(
    before.map((text, index) => {
      const edited = after[index] ?? text;
      if (edited === text) return [text, text];
      let distinct = edited;
      for (let count = 2; taken.has(distinct); count += 1) distinct = `${edited} (${count})`;
      taken.add(distinct);
      return [text, distinct];
    }),
  );
}

function editedQuestion(
  question: Question,
  options: ReadonlyMap<string, string>,
  { levels }: Pick<AnswerTexts, 'levels'>,
): Question {
  if (question.kind === 'choice')
    return {
      ...question,
      options: question.options.map((option) =>
        typeof option.value === 'boolean' ? option : { ...option, value: options.get(option.value) ?? option.value },
      ),
    };
  if (question.kind !== 'score') return question;
  return {
    ...question,
    levels: question.levels.map((level, index) => {
      const edited = levels[index];
      if (edited === undefined) return level;
      return { ...level, label: typeof edited === 'string' ? edited : { json: edited } };
    }),
  };
}

function editedAnswer(
  answer: Exclude<Answer, { kind: 'refusal' }>,
  options: ReadonlyMap<string, string>,
  { legend, more }: Pick<AnswerTexts, 'legend' | 'more'>,
): Answer {
  if (answer.kind === 'choice') {
    const textOf = (text: string): string => options.get(text) ?? text;
    const probabilities = [...answer.probabilities].map(([text, probability]) => [textOf(text), probability] as const);
    return { ...answer, choice: textOf(answer.choice), probabilities: new Map(probabilities), more };
  }
  if (answer.kind !== 'score' || answer.legend === null) return { ...answer, more };
  const labels = [...answer.legend.keys()].map((key, index) => [key, legend[index]] as const);
  return { ...answer, legend: new Map(labels), more };
}
