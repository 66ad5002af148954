import type { callModel } from '../../../resolvers/inference.ts';
import { type ByteStream, streamOfBytes, collect } from '../../../src/domain/bytes.ts';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { displayName } from '../../../src/domain/chat/provider.ts';
import { parseJson } from '../../../src/wire/json/fields.ts';
import { MAX_ANSWER_BYTES } from './model-call.ts';

type GatewayCall = Awaited<ReturnType<typeof callModel>>;

/** Reads a complete answer as JSON. Undefined if it is not JSON or longer than `MAX_ANSWER_BYTES`. */
export const readJson = async (stream: ByteStream): Promise<unknown> =>
  parseJson((await collect(stream, MAX_ANSWER_BYTES)) ?? new Uint8Array());

/** The call with its answer replaced by a JSON value. */
export const withAnswer = (call: GatewayCall, answer: unknown): GatewayCall =>
  call.translated(() => streamOfBytes(Buffer.from(JSON.stringify(answer))));

/** The failure that the body of an upstream answer reports. */
export const reportedFailure = (
  { deployment: { provider } }: GatewayCall,
  { message, code }: { readonly message: string; readonly code: string | null },
): UpstreamFailed =>
  new UpstreamFailed(`litellm.APIError: APIError: ${displayName(provider)}Exception - ${message}`, {
    provider,
    upstreamStatus: null,
    upstreamCode: code,
  });
