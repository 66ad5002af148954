import { type EntityProperty, type Platform, Type } from '@mikro-orm/core';

/** A JSON value as text, which keeps the order of its members. SQL does not read it. */
export class JsonTextType extends Type<unknown, string | null> {
  override convertToDatabaseValue(value: unknown): string | null {
    return value === null || value === undefined ? null : JSON.stringify(value);
  }

  override convertToJSValue(text: string | null): unknown {
    return text === null ? null : (JSON.parse(text) as unknown);
  }

  override getColumnType(property: EntityProperty, platform: Platform): string {
    return platform.getTextTypeDeclarationSQL(property);
  }
}
