// Violates the layer rule `command-is-not-imported` on purpose (`test/house/layer-rules.ts`).
import type { Printed } from '../../lite/imports-the-server.ts';

export type Started = Printed;
