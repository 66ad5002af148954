import { listHealthChecks } from '../resolvers/health-checks.ts';
import type { HealthCheck } from '../src/domain/deployments/health-check.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { creationOrder } from './base/order.ts';
import { readCreationPage, rowConnection, rowPageCost } from './base/row-pages.ts';

const HealthCheckType = builder.objectRef<HealthCheck>('HealthCheck').implement({
  description: 'Stored result of a health check of a deployment, by any process.',
  fields: (t) => ({
    healthCheckId: t.exposeID('id', { description: 'Id of the check.' }),
    deploymentId: t.exposeID('deploymentId', { description: 'Id of the deployment, which may be deleted.' }),
    model: t.exposeString('modelGroup', {
      description: 'Public model name of the deployment at the time of the check.',
    }),
    at: t.expose('createdAt', { type: 'DateTime', description: 'When the check was made.' }),
    checkedBy: t.exposeID('createdBy', {
      description: 'User of the caller, else the hash of its key; `health-check` for periodic checks.',
    }),
    latencyMs: t.exposeFloat('latencyMs', { description: 'Time to the end of the answer, in milliseconds.' }),
    error: t.string({
      nullable: true,
      description: 'Why the check failed; null after a success.',
      resolve: ({ failure }) => failure?.message ?? null,
    }),
  }),
});

const HealthCheckFilterType = builder.inputType('HealthCheckFilter', {
  description: 'Filter of health checks. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    model: t.string({ description: 'Exact public model name.' }),
    healthy: t.boolean({ description: 'True for successes only, false for failures only.' }),
  }),
});

const HealthCheckOrderType = creationOrder('HealthCheck', 'health checks');

builder.queryField('healthChecks', (t) =>
  t.connection(
    {
      type: HealthCheckType,
      description:
        'Stored health checks of deployments that the key may see, newest first by default. Administrators also see checks of deleted deployments. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: HealthCheckFilterType, description: 'All health checks when absent.' }),
        orderBy: t.arg({ type: HealthCheckOrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, orderBy, ...args }, { scope }) => {
        const page = readCreationPage(args);
        const isDescending = orderBy?.direction !== 'ascending';
        const { checks, ...counts } = await listHealthChecks(scope, {
          model: nullIfBlank(filter?.model),
          isHealthy: filter?.healthy ?? null,
          descending: page.isBackwards ? !isDescending : isDescending,
          limit: page.limit,
          from: page.from,
        });
        return rowConnection({ ...counts, nodes: checks }, page, (check) => check);
      },
    },
    { ...pageType('HealthCheck', 'health checks'), fields: (pageFields) => totalCount(pageFields, 'health checks') },
    edgeType('HealthCheck', 'health check'),
  ),
);
