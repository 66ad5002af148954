import type { Admission } from './domain/admission/admission.ts';
import type { HttpClient } from './domain/http.ts';
import { createGateway, type GatewayOptions } from './gateway/create-gateway.ts';
import { createProviders, demoDeployment } from './providers/providers.ts';
import { createAwsAccounts } from './runtime/credentials/aws-accounts.ts';
import { pause, systemClock } from './runtime/clock.ts';
import { createGoogleTokens } from './runtime/credentials/google-tokens.ts';
import { randomIds } from './runtime/identifiers.ts';
import type { Log } from './runtime/telemetry/log.ts';
import type { Settings } from './runtime/settings/settings.ts';
import { webSocketClient } from './runtime/network/web-sockets.ts';

interface GatewayParts extends Pick<GatewayOptions, 'catalog' | 'recorder'> {
  readonly http: HttpClient;
  readonly admission: Admission;
  readonly log: Log;
}

/** The gateway over the configured deployments and every provider adapter. */
export function openGateway(settings: Settings, { http, catalog, recorder, admission, log }: GatewayParts) {
  return createGateway({
    deployments: settings.demoModel ? [...settings.deployments, demoDeployment] : settings.deployments,
    providers: createProviders({
      http,
      sockets: webSocketClient,
      googleTokens: createGoogleTokens(),
      awsAccounts: createAwsAccounts({
        refused: (about) => log.warn(about, 'AWS gave no credentials for a deployment'),
      }),
    }),
    catalog,
    recorder,
    admission,
    clock: systemClock,
    ids: randomIds,
    pause,
    capturePrompts: settings.capturePrompts,
    alwaysStreamUsage: settings.alwaysStreamUsage,
    budgetToldAs: settings.budgetToldAs,
    clientCredentials: settings.callers.clientCredentials,
    tellsTries: settings.routerDebugInErrors,
    checksFallbackBudgets: settings.enforceFallbackBudget,
  });
}
