import type { ByteStream } from '../../domain/bytes.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { createMessageReframer } from '../../wire/aws-event-stream/events.ts';
import { BEDROCK_EMBEDDINGS, embeddingRequest, embeds } from '../../wire/bedrock-embeddings/native.ts';
import { CONVERSE_NATIVE } from '../../wire/converse/native.ts';
import { reframed } from '../../wire/sse/reframed.ts';
import type { Protocol } from '../http-provider.ts';
import { type AwsCredentials, signedHeaders } from './sign.ts';

const DEFAULT_REGION = 'us-west-2';

/** Models on Amazon Bedrock, through Converse, and vectors of two makers: by an API key, or signed by whoever may call them. */
export function bedrock(name: 'bedrock' | 'bedrock_converse'): Protocol {
  return {
    name,
    dialectOf({ dialect, operation }, { upstreamModel }) {
      if (dialect === 'converse') return CONVERSE_NATIVE;
      return operation === 'embeddings' && embeds(upstreamModel) ? BEDROCK_EMBEDDINGS : null;
    },
    async prepare(deployment, request) {
      const { region, model } = placeOf(deployment);
      const { endpoint, body, stream } = request;
      const isChat = endpoint.dialect === 'converse';
      const bytes = isChat ? request.bytes : Buffer.from(JSON.stringify(embeddingRequest(model, body)));
      const action = isChat ? (stream ? 'converse-stream' : 'converse') : 'invoke';
      const url = `${baseOf(deployment, region)}/model/${encodeURIComponent(model)}/${action}`;
      const headers = { 'content-type': 'application/json' };
      const { apiKey } = deployment;
      const credentials = credentialsOf(deployment);
      if (apiKey !== null)
        return { url, headers: { ...headers, authorization: `Bearer ${apiKey.reveal()}` }, body: bytes };
      if (credentials === null) return { url, headers, body: bytes };
      const signed = await signedHeaders({ url, headers, body: bytes }, credentials, { region, at: new Date() });
      return { url, headers: signed, body: bytes };
    },
    events: (body: ByteStream) => reframed(body, createMessageReframer()),
  };
}

/** A model may be named with its region before it, or by a resource name that says where it is. */
function placeOf({ upstreamModel, options }: Deployment): { readonly region: string; readonly model: string } {
  const placed = /^([a-z]{2}(?:-[a-z]+)+-\d)\/(.+)$/.exec(upstreamModel);
  const model = placed?.[2] ?? upstreamModel;
  const named = placed?.[1] ?? options['aws_region_name'] ?? /^arn:[^:]*:bedrock:([^:]+):/.exec(model)?.[1];
  return { region: named ?? DEFAULT_REGION, model };
}

function baseOf({ apiBase, options }: Deployment, region: string): string {
  const given = options['aws_bedrock_runtime_endpoint'] ?? apiBase;
  if (given) return given.replace(/\/+$/, '');
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

function credentialsOf({ options, secrets }: Deployment): AwsCredentials | null {
  const accessKeyId = options['aws_access_key_id'];
  const secretAccessKey = secrets['aws_secret_access_key']?.reveal();
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, sessionToken: secrets['aws_session_token']?.reveal() ?? null };
}
