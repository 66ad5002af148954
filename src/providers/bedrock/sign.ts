import { AwsV4Signer } from 'aws4fetch';
import type { AwsCredentials } from '../../domain/chat/aws-accounts.ts';

/** Headers of a call, with its AWS Signature Version 4. Defaults: method POST, service `bedrock`. */
export async function signedHeaders(
  call: {
    readonly method?: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
  },
  credentials: AwsCredentials,
  { region, at, service = 'bedrock' }: { readonly region: string; readonly at: Date; readonly service?: string },
): Promise<Readonly<Record<string, string>>> {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new AwsV4Signer({
    method: call.method ?? 'POST',
    url: call.url,
    headers: call.headers,
    ...(call.body.length === 0 ? {} : { body: call.body as Uint8Array<ArrayBuffer> }),
    accessKeyId,
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken === null ? {} : { sessionToken: sessionToken.reveal() }),
    service,
    allHeaders: true,
    region,
    // `YYYYMMDDTHHMMSSZ`
    datetime: at.toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  return Object.fromEntries((await signer.sign()).headers);
}
