import { BigIntType, type EntityProperty, type Platform } from '@mikro-orm/core';

/** A number the database counts up itself: in SQLite the row id, which has to be declared `integer`. */
export class RowNumberType extends BigIntType<'string'> {
  constructor() {
    super('string');
  }

  override getColumnType(property: EntityProperty, platform: Platform): string {
    const integer = platform.getIntegerTypeDeclarationSQL(property);
    return integer === 'integer' ? integer : platform.getBigIntTypeDeclarationSQL(property);
  }
}
