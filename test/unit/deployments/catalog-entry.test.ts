import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import { catalogEntryFor } from '../../../src/domain/deployments/catalog-entry.ts';
import { loadEmbeddedSnapshot } from '../../../src/runtime/catalog/snapshot.ts';
import { aDeployment } from '../../support/chat.ts';

const CATALOG = loadEmbeddedSnapshot();

const bedrock = (upstreamModel: string): Partial<Deployment> => ({ provider: 'bedrock', upstreamModel });
const GOV = 'arn:aws-us-gov:bedrock:us-gov-west-1::';
const OWN = 'arn:aws:bedrock:us-east-1:123456789012:';
const PROFILE = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/';

describe('the catalog entry of a deployment', () => {
  it.each<[string, Partial<Deployment>, string | null]>([
    ['of a model', { upstreamModel: 'gpt-4o' }, 'gpt-4o'],
    ['of a base model', { provider: 'azure', upstreamModel: 'mine', baseModel: 'azure/gpt-4o' }, 'azure/gpt-4o'],
    [
      'of a fine-tuned model is that of its kind',
      { upstreamModel: 'ft:gpt-4o-2024-08-06:my-org:my-name:id', modelGroup: 'gpt-4o' },
      'ft:gpt-4o-2024-08-06',
    ],
    [
      'of a fine-tuned base model is that of its kind',
      { provider: 'azure', upstreamModel: 'mine', baseModel: 'ft:gpt-4o-2024-08-06:my-org::id' },
      'ft:gpt-4o-2024-08-06',
    ],
    ['of an unknown fine-tuned model', { upstreamModel: 'ft:unknown:my-org::id' }, null],
    ['of a profile of Bedrock', bedrock('eu.amazon.nova-lite-v1:0'), 'eu.amazon.nova-lite-v1:0'],
    [
      'of a profile without an entry is that of its model',
      bedrock('us.amazon.nova-premier-v1:0'),
      'amazon.nova-premier-v1:0',
    ],
    ['of the ARN of a profile', bedrock(`${PROFILE}eu.amazon.nova-lite-v1:0`), 'eu.amazon.nova-lite-v1:0'],
    [
      'of the ARN of a profile without an entry',
      bedrock(`${PROFILE}us.amazon.nova-premier-v1:0`),
      'amazon.nova-premier-v1:0',
    ],
    [
      'of a model of Bedrock in a region with its own prices',
      { ...bedrock('minimax.minimax-m2.1'), options: { aws_region_name: 'eu-west-2' } },
      'bedrock/eu-west-2/minimax.minimax-m2.1',
    ],
    [
      'of a model of Bedrock in a region without own prices',
      { ...bedrock('amazon.nova-lite-v1:0'), options: { aws_region_name: 'eu-west-2' } },
      'amazon.nova-lite-v1:0',
    ],
    [
      'of a base model, whatever the region',
      { ...bedrock('minimax.minimax-m2.1'), baseModel: 'gpt-4o', options: { aws_region_name: 'eu-west-2' } },
      'gpt-4o',
    ],
    [
      'of a model of another provider, whatever the region',
      { upstreamModel: 'gpt-4o', options: { aws_region_name: 'eu-west-2' } },
      'gpt-4o',
    ],
    [
      'of the ARN of a model',
      bedrock('arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0'),
      'amazon.nova-lite-v1:0',
    ],
    [
      'of the ARN of a model in GovCloud',
      bedrock('arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/amazon.nova-lite-v1:0'),
      'bedrock/us-gov-west-1/amazon.nova-lite-v1:0',
    ],
    [
      'of the ARN of a model in a region with its own prices',
      bedrock('arn:aws:bedrock:eu-west-2::foundation-model/minimax.minimax-m2.1'),
      'bedrock/eu-west-2/minimax.minimax-m2.1',
    ],
    [
      'of the ARN of a model in a region of GovCloud',
      { provider: 'bedrock', upstreamModel: 'alias', baseModel: `${GOV}foundation-model/anthropic.claude-sonnet-5` },
      'bedrock/us-gov-west-1/anthropic.claude-sonnet-5',
    ],
    [
      'of the ARN of a profile of GovCloud without an entry',
      bedrock(`${GOV}inference-profile/us-gov.anthropic.claude-haiku-4-5-20251001-v1:0`),
      'bedrock/us-gov-west-1/anthropic.claude-haiku-4-5-20251001-v1:0',
    ],
    [
      'of a profile of GovCloud without an entry',
      bedrock('us-gov.anthropic.claude-haiku-4-5-20251001-v1:0'),
      'bedrock/us-gov-west-1/anthropic.claude-haiku-4-5-20251001-v1:0',
    ],
    [
      'of a profile of GovCloud without an entry of GovCloud',
      bedrock('us-gov.amazon.nova-premier-v1:0'),
      'amazon.nova-premier-v1:0',
    ],
    [
      'of a profile that is called in a region with its own prices',
      bedrock('arn:aws:bedrock:ap-south-1:1:inference-profile/apac.deepseek.v3.2'),
      'deepseek.v3.2',
    ],
    ['of a model imported under the name of another one', bedrock(`${OWN}imported-model/deepseek.v3.2`), null],
    ['of a provisioned model', bedrock(`${OWN}provisioned-model/amazon.nova-lite-v1:0`), null],
    ['of a custom model', bedrock(`${OWN}custom-model/amazon.nova-lite-v1:0:256k/abc`), null],
    [
      'of an ARN without a name of a model',
      bedrock('arn:aws:bedrock:us-east-1:1:application-inference-profile/a1b2'),
      null,
    ],
    ['of a name with a region at another provider', { upstreamModel: 'us.amazon.nova-premier-v1:0' }, null],
    ['of a public name, when its model has none', { upstreamModel: 'ft:unknown:a::b', modelGroup: 'gpt-4o' }, 'gpt-4o'],
  ])('%s', (_what, overrides, expected) => {
    const deployment = aDeployment({ provider: 'openai', modelGroup: 'public', ...overrides });
    expect(catalogEntryFor(deployment, CATALOG)?.id ?? null).toBe(expected);
  });
});
