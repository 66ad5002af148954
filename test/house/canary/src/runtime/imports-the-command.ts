// Breaks `command-is-not-imported`.
import type { Printed } from '../../lite/imports-the-server.ts';

export type Started = Printed;
