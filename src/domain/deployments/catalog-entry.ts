import type { CatalogEntry, CatalogSnapshot } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';

/** A fine-tuned model of OpenAI with its owner, suffix and id, such as `ft:gpt-4o:my-org::id`. */
const FINE_TUNED = /^(ft:[^:]+):/;
/** Region, kind and name of a model. Ids of other resources, such as imported models, are not names of models. */
const BEDROCK_ARN = /^arn:[a-z-]+:bedrock:([a-z0-9-]+):\d*:(foundation-model|inference-profile)\/([^/]+)$/;
/** Geography of an inference profile of Bedrock, such as `us.`. */
const GEOGRAPHY = /^(us-gov|us|eu|apac|global|jp|au|ca|in|sa)\.(?=[a-z0-9]+\.)/;
/** The region of GovCloud whose prices a profile of GovCloud has. They are higher than those of other regions. */
const GOV_REGION = 'us-gov-west-1';

/** More general names of a model, the nearest first: without what belongs to an account or a geography. */
function generalNames(name: string, provider: string): readonly string[] {
  const [, fineTuned] = FINE_TUNED.exec(name) ?? [];
  if (fineTuned !== undefined) return [fineTuned];
  if (!provider.startsWith('bedrock')) return [];
  const [, region, resource, named] = BEDROCK_ARN.exec(name) ?? [];
  if (named === undefined) return withoutGeography(name);
  // The map has the prices of a region under its name. A profile has calls in several regions.
  return [
    ...(resource === 'foundation-model' ? [`bedrock/${region}/${named}`] : []),
    named,
    ...withoutGeography(named),
  ];
}

function withoutGeography(profile: string): readonly string[] {
  const [prefix, geography] = GEOGRAPHY.exec(profile) ?? [];
  if (prefix === undefined) return [];
  const model = profile.slice(prefix.length);
  return [...(geography === 'us-gov' ? [`bedrock/${GOV_REGION}/${model}`] : []), model];
}

/** Name of a Bedrock model in the region of `aws_region_name`; null for other models, and without a region. */
function regionalNameOf({ provider, upstreamModel, options }: Deployment): string | null {
  const region = options['aws_region_name'];
  const isPlainName = !upstreamModel.includes('/') && !upstreamModel.startsWith('arn:');
  return provider.startsWith('bedrock') && region !== undefined && isPlainName
    ? `bedrock/${region}/${upstreamModel}`
    : null;
}

/**
 * The catalog entry of a deployment: the first that exists of base model, model in a Bedrock region, `provider/model`,
 * upstream model and public name. The bare upstream model comes later: its entry has prices of its maker. A fine-tuned
 * model and an inference profile of Bedrock may have only the entry of a more general name.
 */
export function catalogEntryFor(deployment: Deployment, catalog: CatalogSnapshot): CatalogEntry | null {
  const { baseModel, upstreamModel, provider, modelGroup } = deployment;
  const ofRegion = regionalNameOf(deployment);
  const ofUpstream = [upstreamModel, ...generalNames(upstreamModel, provider)];
  const names = [
    ...(baseModel === null ? [] : [baseModel, ...generalNames(baseModel, provider)]),
    ...(ofRegion === null ? [] : [ofRegion]),
    ...ofUpstream.flatMap((name) => [`${provider}/${name}`, name]),
    modelGroup,
  ];
  for (const name of names) {
    const found = catalog.find(name);
    if (found !== null) return found;
  }
  return null;
}
