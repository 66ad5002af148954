import {
  type CallEvidence,
  complianceOf,
  type ComplianceReport,
  type Regulation,
} from '../src/domain/compliance/compliance.ts';
import { tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** A logged call, and the regulation that it is compared with. */
export interface ComplianceQuestion {
  readonly regulation: Regulation;
  readonly call: CallEvidence;
}

/** Compares the record of a call with a regulation. */
export const checkCompliance = operation({
  name: 'checkCompliance',
  access: tenantViewer,
  run: (_scope: Scope<object>, { regulation, call }: ComplianceQuestion): ComplianceReport =>
    complianceOf(regulation, call),
});
