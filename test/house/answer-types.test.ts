import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ANSWER_TYPES } from '../../rest-shims/helpers/openapi/answer-types.ts';
import { compareRenderedTypes } from '../support/rendered-types.ts';
import { ROOT } from './repository.ts';

/**
 * Rows whose answers have no type in the sources. Such an answer is bytes of an upstream, of the catalog or of a page.
 * Or it comes from a factory, and its form depends on a value. Answers of these rows are checked in contract tests
 * (`test/support/checked-fetch.ts`).
 */
const NOT_COMPARED = [
  'accessGroups.delete',
  'batches.cancel',
  'batches.create',
  'batches.get',
  'batches.list',
  'catalog.get',
  'catalog.list',
  'catalog.priceMap',
  'chat.completions',
  'checkout.cancelled',
  'checkout.replace',
  'checkout.success',
  'completions.create',
  'content.generate',
  'customers.block',
  'customers.unblock',
  'decisions.create',
  'decisions.systemOne',
  'deployments.block',
  'deployments.unblock',
  'embeddings.create',
  'files.content',
  'files.create',
  'files.delete',
  'files.get',
  'files.list',
  'health.deployments 503',
  'health.readiness 503',
  'health.readinessDetails 503',
  'ide.chat',
  'images.edit',
  'images.generate',
  'images.variation',
  'interactions.cancel',
  'interactions.create',
  'interactions.get',
  'lens.exportDataset',
  'mcpProtocol.listen',
  'mcpProtocol.send',
  'mcpProtocol.send 202',
  'mcpServers.delete',
  'mcpToolsets.delete',
  'messages.create',
  'metrics.read',
  'moderations.create',
  'prompts.test',
  'rag.query',
  'rerank.create',
  'responses.cancel',
  'responses.compact',
  'responses.create',
  'responses.delete',
  'responses.get',
  'responses.inputItems',
  'service.robots',
  'settings.getBlockUnpriced',
  'settings.getCache',
  'settings.getCloudZero',
  'settings.getCoordinationRedis',
  'settings.getCostDiscount',
  'settings.getCostMargin',
  'settings.getDefaultTeam',
  'settings.getEmailEvents',
  'settings.getHashicorpVault',
  'settings.getInternalUser',
  'settings.getMcpSemanticFilter',
  'settings.getMcpToolSearch',
  'settings.getSso',
  'settings.getUi',
  'settings.getUiTheme',
  'settings.getVantage',
  'settings.getWebsearch',
  'settings.iconImage',
  'settings.logoImage',
  'settings.updateBlockUnpriced',
  'settings.updateCache',
  'settings.updateCloudZero',
  'settings.updateCoordinationRedis',
  'settings.updateCostDiscount',
  'settings.updateCostMargin',
  'settings.updateDefaultTeam',
  'settings.updateEmailEvents',
  'settings.updateHashicorpVault',
  'settings.updateInternalUser',
  'settings.updateMcpSemanticFilter',
  'settings.updateMcpToolSearch',
  'settings.updateSso',
  'settings.updateUi',
  'settings.updateUiTheme',
  'settings.updateVantage',
  'settings.updateWebsearch',
  'settings.yaml',
  'signIn.cliComplete',
  'signIn.end',
  'signIn.form',
  'signIn.json',
  'signIn.page',
  'signIn.welcome',
  'speech.create',
  'spend.keyReport',
  'spend.organizationReport',
  'spend.teamReport',
  'spend.userReport',
  'tagUse.daily',
  'tagUse.monthly',
  'tagUse.weekly',
  'teams.addModels',
  'teams.removeModels',
  'traces.ingest',
  'transcriptions.create',
  'translations.create',
];

test('documented answer types allow all values that rows render', () => {
  const { faults, compared } = compareRenderedTypes(ROOT, 'tsconfig.json');
  expect(faults).toEqual([]);
  expect(
    Object.keys(ANSWER_TYPES)
      .filter((name) => !compared.has(name))
      .toSorted(),
  ).toEqual(NOT_COMPARED);
});

test('planted faults are reported: null, an absent member, another type', () => {
  const folder = join(ROOT, 'test/house/canary/answer-types');
  expect(compareRenderedTypes(folder, 'tsconfig.json').faults).toEqual([
    'health.backlog: .queued_requests: string where [{"type":"integer"}] is documented',
    'health.backlog: .rejected_requests: absent',
    'signIn.code: .code: may be absent',
    'signIn.json: .redirect_url: null where [{"type":"string"}] is documented',
  ]);
});
