// Violates the layer rule `domain` on purpose (`test/house/layer-rules.ts`).
// It imports a higher layer, a library, and Node.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { engine } from '../gateway/imports-the-orm.ts';

export const imported = { readFileSync, z, engine: null as typeof engine | null };
