// Each noun adds itself to the builder by being imported.
/* oxlint-disable import/no-unassigned-import */
import './errors.ts';
import './catalog.ts';
import './catalog-estimate.ts';
import './catalog-history.ts';
import './catalog-models.ts';
import './catalog-price-history.ts';
import './catalog-quarantine.ts';
import './catalog-status.ts';
import './spans.ts';
import './traces.ts';
import './trace-edges.ts';
import './trace-removal.ts';
import './chat.ts';
import './checkout.ts';
import './deployments.ts';
import './keys.ts';
import './key-changes.ts';
import './key-list.ts';
import './free-tier.ts';
import { builder } from './builder.ts';
import { runInTurns } from './turns.ts';

/** The graph, built from every noun. */
export const schema = runInTurns(builder.toSchema());
