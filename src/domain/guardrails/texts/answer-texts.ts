import type { Endpoint } from '../../inference/endpoint.ts';
import { createWalk, isMembers, listOf, type Members, type TextPlace } from './walk.ts';

/** Members of the answers of a decision that are not texts of the model. */
const ANSWER_SKIPS: ReadonlySet<string> = new Set(['type', 'name']);

/** Members of a page of a document that are not texts: names and data of images. */
const PAGE_SKIPS: ReadonlySet<string> = new Set(['id', 'image_base64', 'type']);

/** The texts of a complete answer with their places. */
export function answerTexts({ answers: { member } }: Pick<Endpoint, 'answers'>, body: Members): readonly TextPlace[] {
  const walk = createWalk();
  switch (member) {
    case 'choices':
      for (const [index, choice] of listOf(body['choices']).entries()) {
        if (!isMembers(choice)) continue;
        walk.content(choice['text'], ['choices', index, 'text'], 'assistant');
        const message = choice['message'];
        if (!isMembers(message)) continue;
        walk.content(message, ['choices', index, 'message'], 'assistant');
      }
      break;
    case 'candidates':
      for (const [index, candidate] of listOf(body['candidates']).entries())
        if (isMembers(candidate)) walk.content(candidate['content'], ['candidates', index, 'content'], 'assistant');
      break;
    case 'content':
    case 'output':
    case 'message':
    case 'text':
      walk.content(body[member], [member], 'assistant');
      if (typeof body['output_text'] === 'string') walk.content(body['output_text'], ['output_text'], 'assistant');
      break;
    case 'answers':
      walk.everything(body['answers'], ['answers'], 'assistant', ANSWER_SKIPS);
      break;
    case 'data':
      // Each generated image has the prompt that the model has rewritten.
      for (const [index, one] of listOf(body['data']).entries())
        if (isMembers(one)) walk.content(one['revised_prompt'], ['data', index, 'revised_prompt'], 'assistant');
      break;
    case 'pages':
      for (const [index, page] of listOf(body['pages']).entries())
        if (isMembers(page)) walk.everything(page, ['pages', index], 'assistant', PAGE_SKIPS);
      walk.content(body['document_annotation'], ['document_annotation'], 'assistant');
      break;
    case 'results':
    case null:
      break;
  }
  return walk.places;
}

/** Members that repeat the text of an answer in pieces, so that filters cannot find a match in them. */
const REPEATED: ReadonlySet<string> = new Set([
  'logprobs',
  'logprobsResult',
  'prompt_logprobs',
  'token_ids',
  'groundingSupports',
]);
const REPEATED_TRANSCRIPT: ReadonlySet<string> = new Set([...REPEATED, 'segments', 'words']);

/**
 * An edited answer as JSON text. Members that repeat the unedited text become null. `member` is the member of the
 * answer with its result, which is `text` for a transcript.
 */
export function editedJson(answer: unknown, member: Endpoint['answers']['member'] = null): string {
  const repeated = member === 'text' ? REPEATED_TRANSCRIPT : REPEATED;
  return JSON.stringify(answer, (name, value: unknown) => (repeated.has(name) ? null : value));
}
