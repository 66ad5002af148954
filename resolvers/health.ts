import { Unavailable } from '../src/domain/errors.ts';
import { anyone } from './access.ts';
import { type CatalogHealth, catalogHealth } from './catalog-status.ts';
import { operation } from './operation.ts';

/** What a load balancer or an operator wants to know before sending traffic. */
export interface Readiness {
  readonly catalog: CatalogHealth;
  /** Calls whose spend row and span are not committed yet. */
  readonly recordsWaiting: number;
}

/** Ready exactly when the process can serve: not draining, and the store answers. */
export const checkReadiness = operation({
  name: 'checkReadiness',
  access: anyone,
  async run({ platform }, _input: undefined): Promise<Readiness> {
    if (platform.draining()) throw new Unavailable('The process is shutting down.');
    await platform.stores.ping().catch((cause: unknown) => {
      throw new Unavailable('The database does not answer.', 2, { cause });
    });
    return { catalog: catalogHealth(platform), recordsWaiting: platform.recordsWaiting() };
  },
});
