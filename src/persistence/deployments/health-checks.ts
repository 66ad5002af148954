import type { HealthCheck, HealthCheckFilter, HealthCheckStore } from '../../domain/deployments/health-check.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, createdWithin, matching } from '../database/row-store.ts';
import { HealthCheckEntity } from './entities.ts';

export function createHealthCheckStore(database: Database): HealthCheckStore {
  const rows = createRowStore<HealthCheck, HealthCheckFilter, 'created_at'>(database, {
    entity: HealthCheckEntity,
    noun: 'health check',
    where: ({ deploymentIds, modelGroup, isHealthy, before }) => [
      ...matching({ deploymentId: deploymentIds, modelGroup }),
      ...(isHealthy === null ? [] : [{ failure: isHealthy ? null : { $ne: null } }]),
      ...createdWithin(null, before),
    ],
    conflictText: ({ id }) => `The health check ${id} is stored already.`,
  });
  return {
    ...rows,
    async latest(deploymentIds) {
      const found = await Promise.all(
        deploymentIds.map((id) =>
          rows.list({
            filter: { deploymentIds: [id], modelGroup: null, isHealthy: null, before: null },
            sort: 'created_at',
            descending: true,
            limit: 1,
            from: 0,
          }),
        ),
      );
      return found.flat();
    },
  };
}
