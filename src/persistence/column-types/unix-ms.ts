import { type EntityProperty, type Platform, Type } from '@mikro-orm/core';

/** An instant as Unix ms, in a column of 64-bit integers. */
export class UnixMsType extends Type<Date | null, number | string | null> {
  override convertToDatabaseValue(time: Date | null): number | null {
    return time === null ? null : time.getTime();
  }

  override convertToJSValue(ms: number | string | null): Date | null {
    return ms === null ? null : new Date(Number(ms));
  }

  override getColumnType(property: EntityProperty, platform: Platform): string {
    return platform.getBigIntTypeDeclarationSQL(property);
  }
}

/** An instant that is ISO 8601 text in the domain, as Unix ms in a column of doubles. */
export class IsoTimeType extends Type<string, number> {
  override convertToDatabaseValue(time: string): number {
    return new Date(time).getTime();
  }

  override convertToJSValue(ms: number): string {
    return new Date(ms).toISOString();
  }

  override getColumnType(_property: EntityProperty, platform: Platform): string {
    return platform.getDoubleDeclarationSQL();
  }
}
