import { InvalidInput } from '../src/domain/errors.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { OutsidePlatform } from './operation/health-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Name of the collector of spans. */
const COLLECTOR = 'otel';

/** State of a service that calls are reported to. */
export interface ServiceState {
  readonly service: string;
  /** Spans since the start of the process, by result. */
  readonly sent: number;
  readonly failed: number;
  readonly dropped: number;
  /** Spans that wait to be sent. */
  readonly waiting: number;
}

/** Lists the services that calls are reported to. */
export const listServices = operation({
  name: 'listServices',
  access: tenantViewer,
  run: ({ platform }: Scope<OutsidePlatform>, _input: undefined): readonly string[] =>
    platform.spanExport === null ? [] : [COLLECTOR],
});

/** Services that can be tested, with the error message when a service is not configured. */
const TESTED: Readonly<Record<string, string>> = {
  webhook: 'No webhook of budget alerts is configured.',
  database: 'No database is configured.',
  redis: 'No Redis is configured.',
};
const KNOWN = [COLLECTOR, ...Object.keys(TESTED)];

/** A service that answered a test. */
export interface TestedService {
  readonly service: string;
}

/**
 * Tests a service, or reads the state of the collector of spans. A test of the webhook sends an alert. Throws
 * InvalidInput for an unknown or unconfigured service, and Unavailable for one that does not answer.
 */
export const checkService = operation({
  name: 'checkService',
  access: tenantAdmin,
  async run(
    { platform }: Scope<OutsidePlatform>,
    { service }: { readonly service: string },
  ): Promise<ServiceState | TestedService> {
    if (!KNOWN.includes(service)) {
      const names = KNOWN.map((name) => `\`${name}\``).join(', ');
      throw new InvalidInput(`The service must be one of ${names}, not \`${service}\`.`);
    }
    if (service !== COLLECTOR) {
      const test = platform.serviceTests.get(service);
      if (test === undefined) throw new InvalidInput(TESTED[service] ?? '');
      await test();
      return { service };
    }
    if (platform.spanExport === null) throw new InvalidInput('No collector of spans is configured.');
    return { service, ...platform.spanExport.counts() };
  },
});
