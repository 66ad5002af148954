import type { CatalogEntry, CatalogSnapshot } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';

/** A fine-tuned model of OpenAI with its owner, suffix and id, such as `ft:gpt-4o:my-org::id`. */
const FINE_TUNED = /^(ft:[^:]+):/;
const BEDROCK_ARN = /^arn:[a-z-]+:bedrock:[^/]*\/([^/]+)$/;
/** Geography of an inference profile of Bedrock, such as `us.`. */
const GEOGRAPHY = /^(?:us-gov|us|eu|apac|global|jp|au|ca|in|sa)\.(?=[a-z0-9]+\.)/;

/** More general names of a model, the nearest first: without what belongs to an account or a geography. */
function generalNames(name: string, provider: string): readonly string[] {
  const [, kind] = FINE_TUNED.exec(name) ?? [];
  if (kind !== undefined) return [kind];
  if (!provider.startsWith('bedrock')) return [];
  const [, ofArn] = BEDROCK_ARN.exec(name) ?? [];
  const profile = ofArn ?? name;
  return [
    ...(ofArn === undefined ? [] : [ofArn]),
    ...(GEOGRAPHY.test(profile) ? [profile.replace(GEOGRAPHY, '')] : []),
  ];
}

/**
 * The catalog entry of a deployment: the first that exists of base model, `provider/model`, upstream model and public
 * name. The entry of the bare upstream model comes later, because it has the prices of the model's maker. A fine-tuned
 * model and an inference profile of Bedrock may have only the entry of a more general name.
 */
export function catalogEntryFor(deployment: Deployment, catalog: CatalogSnapshot): CatalogEntry | null {
  const { baseModel, upstreamModel, provider, modelGroup } = deployment;
  const ofUpstream = [upstreamModel, ...generalNames(upstreamModel, provider)];
  const names = [
    ...(baseModel === null ? [] : [baseModel, ...generalNames(baseModel, provider)]),
    ...ofUpstream.flatMap((name) => [`${provider}/${name}`, name]),
    modelGroup,
  ];
  for (const name of names) {
    const found = catalog.find(name);
    if (found !== null) return found;
  }
  return null;
}
