/** Merges values into a chart's defaults: mappings are merged, null removes a key, anything else replaces it. */
export function overlay(defaults: unknown, values: unknown): unknown {
  if (!isRecord(defaults) || !isRecord(values)) {
    return values;
  }
  const merged: Record<string, unknown> = { ...defaults };
  for (const [key, value] of Object.entries(values)) {
    if (value === null) {
      Reflect.deleteProperty(merged, key);
    } else {
      merged[key] = key in merged ? overlay(merged[key], value) : value;
    }
  }
  return merged;
}

/** Reports whether the value is a mapping. */
export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
