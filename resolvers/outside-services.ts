import { InvalidInput, Unavailable } from '../src/domain/errors.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { OutsidePlatform } from './operation/health-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Name of the collector of spans. */
const COLLECTOR = 'otel';

/** State of a service that calls are reported to. */
export interface ServiceState {
  readonly service: string;
  /** Spans since the start of the process, by what became of them. */
  readonly sent: number;
  readonly failed: number;
  readonly dropped: number;
  readonly waiting: number;
}

/** Lists the services that calls are reported to. */
export const listServices = operation({
  name: 'listServices',
  access: tenantViewer,
  run: ({ platform }: Scope<OutsidePlatform>, _input: undefined): readonly string[] =>
    platform.spanExport === null ? [] : [COLLECTOR],
});

/** Reads the state of a service that calls are reported to. Throws InvalidInput for one that is not connected. */
export const checkService = operation({
  name: 'checkService',
  access: tenantAdmin,
  run({ platform }: Scope<OutsidePlatform>, { service }: { readonly service: string }): ServiceState {
    if (service !== COLLECTOR) throw new InvalidInput(`The service must be \`${COLLECTOR}\`, not \`${service}\`.`);
    if (platform.spanExport === null) throw new InvalidInput('No collector of spans is configured.');
    return { service, ...platform.spanExport.counts() };
  },
});

/** Tests the cache of answers. Throws Unavailable: there is none. */
export const checkCache = operation({
  name: 'checkCache',
  access: tenantViewer,
  run(_scope: Scope<object>, _input: undefined): never {
    throw new Unavailable('No cache of answers is configured.', null);
  },
});

/** Removes answers from the cache. Throws Unavailable: there is none. */
export const clearCache = operation({
  name: 'clearCache',
  access: tenantAdmin,
  run(_scope: Scope<object>, _input: { readonly keys: readonly string[] | null }): never {
    throw new Unavailable('No cache of answers is configured.', null);
  },
});
