import { Checkbox, ExpandableSection, FormGroup, FormHelperText, FormSelect, FormSelectOption, HelperText, HelperTextItem, Stack, StackItem, TextInput } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import type { Options } from '../api/operations';
import { choose, flagOf, hasOption, OPTIONS, type Group, type Option } from './table';

interface OptionsFormProps {
  operation: Option['operations'][number];
  /** The version of the installed Helm. */
  helmVersion?: string;
  value: Options;
  onChange: (value: Options) => void;
}

/** Helm's options in groups, each with its flag and a sentence about when to use it. */
export function OptionsForm({ operation, helmVersion, value, onChange }: OptionsFormProps) {
  const { t } = useTranslation('options');
  const groups = new Map<Group, Option[]>();
  for (const option of OPTIONS) {
    if (option.operations.includes(operation)) {
      groups.set(option.group, [...(groups.get(option.group) ?? []), option]);
    }
  }
  return [...groups].map(([group, options]) => {
    const fields = options.map((option) => (
      <StackItem key={option.name}>
        <Field option={option} helmVersion={helmVersion} value={value} onChange={onChange} />
      </StackItem>
    ));
    return group === 'basic' ? (
      <Stack hasGutter key={group} style={{ height: 'auto' }}>
        {fields}
      </Stack>
    ) : (
      <ExpandableSection key={group} toggleText={t(`groups.${group}`)} isIndented>
        <Stack hasGutter>{fields}</Stack>
      </ExpandableSection>
    );
  });
}

type FieldProps = Pick<OptionsFormProps, 'helmVersion' | 'value' | 'onChange'> & { option: Option };

function Field({ option, helmVersion, value, onChange }: FieldProps) {
  const { t } = useTranslation('options');
  const { name, input } = option;
  const id = `option-${name}`;
  const flag = flagOf(option, helmVersion);
  const label = (
    <>
      {t(`names.${name}`)} {flag && <code>{flag}</code>}
    </>
  );
  const available = hasOption(option, helmVersion);
  const help = available ? t(`help.${name}`) : t('missing', { version: helmVersion ?? '', since: option.since ?? '' });
  const set = (chosen: Options[keyof Options] | undefined) => {
    onChange(choose(value, option, chosen, helmVersion));
  };
  if (input.kind === 'flag') {
    return (
      <Checkbox
        id={id}
        label={label}
        description={help}
        isDisabled={!available}
        isChecked={value[name] === true}
        onChange={(_, checked) => {
          set(checked || undefined);
        }}
      />
    );
  }
  const current = String(value[name] ?? '');
  return (
    <FormGroup label={label} fieldId={id}>
      {input.kind === 'choice' ? (
        <FormSelect
          id={id}
          isDisabled={!available}
          value={current}
          onChange={(_, chosen) => {
            set(chosen || undefined);
          }}
        >
          {['', ...input.values].map((choice) => (
            <FormSelectOption key={choice} value={choice} label={choice || t('usual')} />
          ))}
        </FormSelect>
      ) : (
        <TextInput
          id={id}
          type={input.kind}
          isDisabled={!available}
          min={input.kind === 'number' ? input.min : undefined}
          placeholder={input.kind === 'number' ? input.usual : undefined}
          value={current}
          onChange={(_, text) => {
            set(text === '' ? undefined : input.kind === 'number' ? Number(text) : text);
          }}
        />
      )}
      <FormHelperText>
        <HelperText>
          <HelperTextItem>{help}</HelperTextItem>
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}
