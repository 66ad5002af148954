import { batchRoutes } from '../../rest-shims/batches.ts';
import { catalogRoutes } from '../../rest-shims/catalog.ts';
import { checkoutRoutes } from '../../rest-shims/checkout.ts';
import { fileRoutes } from '../../rest-shims/files.ts';
import { freeTierRoutes } from '../../rest-shims/free-tier.ts';
import { generateContentModelRoutes } from '../../rest-shims/generate-content-models.ts';
import { generateContentRoutes } from '../../rest-shims/generate-content.ts';
import { healthRoutes } from '../../rest-shims/health.ts';
import { ideRoutes } from '../../rest-shims/ide.ts';
import { inferenceRoutes } from '../../rest-shims/inference.ts';
import { messagesModelRoutes } from '../../rest-shims/messages-models.ts';
import { messagesRoutes } from '../../rest-shims/messages.ts';
import { metricsRoutes } from '../../rest-shims/metrics.ts';
import { keyRoutes } from '../../rest-shims/keys.ts';
import { modelInfoRoutes } from '../../rest-shims/model-info.ts';
import { modelRoutes } from '../../rest-shims/models.ts';
import { realtimeRoutes } from '../../rest-shims/realtime.ts';
import { responseSocketRoutes } from '../../rest-shims/response-socket.ts';
import { responseRoutes } from '../../rest-shims/responses.ts';
import { traceRoutes } from '../../rest-shims/traces.ts';
import type { RouteRow } from '../../rest-shims/http/route.ts';

/** Every documented HTTP path, as rows. */
export const restRoutes: readonly RouteRow[] = [
  ...inferenceRoutes,
  ...responseRoutes,
  ...responseSocketRoutes,
  ...ideRoutes,
  ...generateContentRoutes,
  ...generateContentModelRoutes,
  ...messagesRoutes,
  ...messagesModelRoutes,
  ...fileRoutes,
  ...batchRoutes,
  ...realtimeRoutes,
  ...modelRoutes,
  ...modelInfoRoutes,
  ...keyRoutes,
  ...traceRoutes,
  ...catalogRoutes,
  ...checkoutRoutes,
  ...freeTierRoutes,
  ...healthRoutes,
  ...metricsRoutes,
];

/** Paths that carry the traffic, as they are sent; any other way to write them works through Koa as well. */
export const HOT_PATHS = new Set<string>(restRoutes.flatMap(({ hot, paths }) => (hot === true ? paths : [])));
