import { asBuffer, topLevelMembers, withMembers } from '../../../src/wire/json/members.ts';
import type { HttpAnswer, HttpRequest } from '../http/route.ts';

/** Mistral's SDKs name themselves in one of these headers. They reject OpenAI's bodies for missing members. */
export const isForMistral = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  /mistral/i.test(headers['user-agent'] ?? '') || headers['x-mistral-user-agent'] !== undefined;

/** The answer with an `id`, which Mistral's embeddings have and OpenAI's do not. Unchanged if it has one. */
export function withId(answer: HttpAnswer, id: string): HttpAnswer {
  const { body } = answer;
  if (body.kind !== 'bytes' || topLevelMembers(asBuffer(body.bytes))?.some(({ key }) => key === 'id')) return answer;
  return { ...answer, body: { ...body, bytes: withMembers(body.bytes, { id: JSON.stringify(id) }) } };
}
