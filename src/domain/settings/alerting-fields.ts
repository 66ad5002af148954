import type { ValueKind } from './value-kinds.ts';

/** A setting within `general_settings.alerting_args`. */
export interface AlertingField {
  readonly kind: Extract<ValueKind, 'integer' | 'flag'>;
  readonly description: string;
  readonly defaultValue: number | boolean;
}

const integer = (defaultValue: number, description: string): AlertingField => ({
  kind: 'integer',
  description,
  defaultValue,
});

/** In the order of `/alerting/settings`. */
export const ALERTING_FIELDS: Readonly<Record<string, AlertingField>> = {
  daily_report_frequency: integer(43_200, 'Interval of reports about latency and failures, in seconds.'),
  report_check_interval: integer(300, 'Interval of the check whether a report is due, in seconds.'),
  budget_alert_ttl: integer(86_400, 'How long an alert about a budget is not sent again, in seconds.'),
  outage_alert_ttl: integer(60, 'Window in which failures of a model count together, in seconds.'),
  region_outage_alert_ttl: integer(60, 'Window in which failures of a region count together, in seconds.'),
  minor_outage_alert_threshold: integer(5, 'Failures in the window that are a minor outage.'),
  major_outage_alert_threshold: integer(10, 'Failures in the window that are a major outage.'),
  max_outage_alert_list_size: integer(10, 'Maximum number of failures of a model or region that are kept.'),
};
