import type { callModel } from '../../../resolvers/inference.ts';
import { type ByteStream, bytesOf, collect } from '../../../src/domain/bytes.ts';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { displayName } from '../../../src/domain/chat/provider.ts';
import { parseJson } from '../../../src/wire/json/fields.ts';
import { ANSWER_LIMIT } from './model-call.ts';

type GatewayCall = Awaited<ReturnType<typeof callModel>>;

/** A complete answer as JSON; undefined when it is no JSON or longer than `ANSWER_LIMIT`. */
export const jsonOf = async (stream: ByteStream): Promise<unknown> =>
  parseJson((await collect(stream, ANSWER_LIMIT)) ?? new Uint8Array());

/** The call with another answer. */
export const withAnswer = (call: GatewayCall, answer: unknown): GatewayCall =>
  call.translated(() => bytesOf(Buffer.from(JSON.stringify(answer))));

/** The failure that an answer of the upstream reports. */
export const reportedFailure = (
  { deployment: { provider } }: GatewayCall,
  { message, code }: { readonly message: string; readonly code: string | null },
): UpstreamFailed =>
  new UpstreamFailed(`litellm.APIError: APIError: ${displayName(provider)}Exception - ${message}`, {
    provider,
    upstreamStatus: null,
    upstreamCode: code,
  });
