// Each import adds its types to the builder.
/* oxlint-disable import/no-unassigned-import */
import './errors.ts';
import './catalog.ts';
import './catalog-estimate.ts';
import './catalog-history.ts';
import './catalog-models.ts';
import './catalog-price-history.ts';
import './catalog-quarantine.ts';
import './catalog-status.ts';
import './node.ts';
import './spans.ts';
import './span-content.ts';
import './span-updates.ts';
import './spend.ts';
import './traces.ts';
import './trace-list.ts';
import './trace-edges.ts';
import './trace-labels.ts';
import './trace-removal.ts';
import './annotations.ts';
import './audit-log.ts';
import './chat.ts';
import './decisions.ts';
import './checkout.ts';
import './coding-agents.ts';
import './deployments.ts';
import './lens.ts';
import './keys.ts';
import './key-changes.ts';
import './key-list.ts';
import './customers.ts';
import './owners.ts';
import './owner-edges.ts';
import './owner-lists.ts';
import './spend-rows.ts';
import './spend-series.ts';
import './free-tier.ts';
import './gateway-activity.ts';
import './endpoint-activity.ts';
import './viewer.ts';
import { builder } from './builder.ts';
import { runInTurns } from './turns.ts';

/** The executable schema. */
export const schema = runInTurns(builder.toSchema());
