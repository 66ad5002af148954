import { asBuffer, topLevelMembers, withMembers } from '../../../src/wire/json/members.ts';
import type { HttpAnswer, HttpRequest } from '../http/route.ts';

/** Whether the client is an SDK of Mistral. Such an SDK requires members that OpenAI's bodies lack. */
export const isForMistral = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  /mistral/i.test(headers['user-agent'] ?? '') || headers['x-mistral-user-agent'] !== undefined;

/** Adds the member `id`, which Mistral's embeddings have and OpenAI's do not. An existing `id` stays. */
export function withId(answer: HttpAnswer, id: string): HttpAnswer {
  const { body } = answer;
  if (body.kind !== 'bytes' || topLevelMembers(asBuffer(body.bytes))?.some(({ key }) => key === 'id')) return answer;
  return { ...answer, body: { ...body, bytes: withMembers(body.bytes, { id: JSON.stringify(id) }) } };
}
