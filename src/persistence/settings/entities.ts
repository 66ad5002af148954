import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** The stored settings of a section change over time: a managed entity. */
export const SettingsSectionEntity = defineEntity({
  name: 'SettingsSectionEntity',
  tableName: 'settings_section',
  properties: {
    id: p.text().primary(),
    content: objectColumn(),
    ...stampColumns(),
  },
});
