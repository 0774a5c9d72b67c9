import type { preview as english } from '../en/preview';
import type { Translation } from '../translation';

export const preview: Translation<typeof english> = {
  button: '预览',
  title: '预览',
  running: 'helm 正在渲染 Chart',
  stale: '此预览生成后，表单已更改。',
  failed: 'helm 无法渲染',
  objects_other: 'helm 将向集群提交 {{count}} 个对象。未做任何更改。',
  hook: '钩子',
  hidden: '已隐藏',
  hiddenHelp: 'helm 仅渲染时不显示 Secret。此 Secret 来自 {{source}}。',
  notes: '说明',
};
